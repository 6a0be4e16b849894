"""What the templates of escalations show: plain values, no database (one module per page)."""
