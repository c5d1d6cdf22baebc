"""What converted functions call: runs both arms of a test, and selects."""
