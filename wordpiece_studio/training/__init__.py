"""From word counts to merges."""
