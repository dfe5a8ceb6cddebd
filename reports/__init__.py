"""Writers of reports: text, JSON."""
