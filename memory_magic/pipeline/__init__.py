"""Past sessions to outputs that a person can inspect: stage one reads one session and writes one file."""
