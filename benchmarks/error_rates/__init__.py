"""GPC+ on its paper's own measure: error rates on 200 training rows, average ranks, and the critical distance."""
