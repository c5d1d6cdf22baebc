"""What users are told: statistics, warnings, programs as text."""
