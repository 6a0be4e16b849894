"""From rows to what pages show: one builder per template part (values of loops.pages)."""
