"""Panel application."""
