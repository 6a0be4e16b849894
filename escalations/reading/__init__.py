"""From rows to what the pages of this app show, sessions included (values of escalations.pages)."""
