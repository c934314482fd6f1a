"""Follow a run in TensorBoard, make it longer, and fine-tune its model on other data."""

import torch

import vera

torch.manual_seed(0)
x = torch.randn(2_000, 2) @ torch.tensor([[1.0, 0.8], [0.0, 0.6]])
method = vera.methods.VERA(vera.models.MLP(2, hidden=(64, 64)), vera.models.mlp_generator(2), lr=1e-3)


def evaluate(method):
    """Called every `evaluate_every` steps; returns names and numbers."""
    with torch.no_grad():
        return {"f_on_data": method.energy(x).mean()}


with vera.loggers.TensorBoardLogger("runs/first") as logger:
    trainer = vera.Trainer(
        method,
        x,
        steps=200,
        evaluate=evaluate,
        evaluate_every=100,
        on_log=[logger.log_training, lambda step, metrics: print(step, round(metrics["loss"], 2))],
        on_evaluate=logger.log_evaluation,
    )
    trainer.run()
    trainer.extend(100)  # as if the run had had 300 steps from the start

model = vera.SavedModel.from_trainer(trainer)
other = x + torch.tensor([0.5, 0.0])
tuned = vera.methods.VERA(**model.copy_networks(), lr=1e-4)  # starts from the weights of the model
print(vera.Trainer(tuned, other, steps=100).run().outcome)
