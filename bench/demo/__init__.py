"""The demo: three ways to train a mixture of Gaussians on points in the plane, as a table and a figure."""
