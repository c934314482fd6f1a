"""The science: models, data, training methods, estimators, samplers and evaluation, behind one Trainer."""
