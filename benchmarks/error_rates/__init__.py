"""GPC+ on its paper's own measure: error rates with few training rows, average ranks, and the critical distance."""
