"""Train a model of a csv file with classes, use it, keep it, and train it further on other data."""

from pathlib import Path

import numpy as np

import vera

data = vera.data.load(Path(__file__).with_name("iris.csv"), label="species")
model = vera.train(data, steps=500)  # VERA; the networks follow from the shape of the data
print(model.metrics["test_accuracy"])  # on the tenth of the rows that is held out
print(model.score(data).shape)  # f(x), an unnormalised log-density
print(model.predict(data)[:3])  # numbers of the classes; their names: model.facts.data["class_names"]
print(model.sample(5, label="setosa", seed=0))  # in centimetres, as in the file
model.plot().savefig("iris.png")
model.save("iris.safetensors")

density = vera.train(np.asarray(data), steps=500, method="dsm")  # without classes, by another method
loaded = vera.load_model("iris.safetensors")
tuned = vera.train((np.asarray(data) + 0.1, data.labels), start_from=loaded, steps=100, lr=1e-4)
print(tuned.metrics["test_accuracy"])
