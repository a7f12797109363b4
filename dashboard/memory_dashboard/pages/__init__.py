"""The pages of the dashboard, one module each; `base` says what a page is."""
