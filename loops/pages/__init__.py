"""What the templates of loops show: plain values and geometry, no database (one module per page)."""
