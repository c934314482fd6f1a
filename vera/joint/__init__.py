"""Joint methods, one file each: they train a classifier that is also an energy model."""

from vera.joint.contract import ClassifierMethod, JointMethod
from vera.joint.hdge import HDGE
from vera.joint.jem import JEM
from vera.joint.meg import JointMEG
from vera.joint.supervised import Supervised
from vera.joint.vat import VAT
from vera.joint.vera import JointVERA

__all__ = ["HDGE", "JEM", "VAT", "ClassifierMethod", "JointMEG", "JointMethod", "JointVERA", "Supervised"]
