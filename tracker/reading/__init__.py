"""Rows of the tracker as the values that its pages show, one module per page. Takes no lock."""
