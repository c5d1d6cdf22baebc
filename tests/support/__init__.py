"""What tests share: browsers, terminals, programs and how long to wait."""
