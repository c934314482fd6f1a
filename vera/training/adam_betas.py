"""Adam's betas, as plain numbers that can be read without torch.

The paper trains energy and generator with betas (0, .9): no momentum, a short memory of squared gradients.
The score-matching baselines use Adam's default betas, as in the papers that introduced them.
"""

PAPER_BETAS = (0.0, 0.9)
ADAM_BETAS = (0.9, 0.999)
