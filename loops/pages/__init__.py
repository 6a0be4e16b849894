"""What the templates of loops show: values and geometry, no database (one module per page)."""
