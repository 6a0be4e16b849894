"""What the tracker's templates show: plain values, no database (one module per page)."""
