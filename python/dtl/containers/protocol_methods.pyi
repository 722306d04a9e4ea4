# What protocol/ gives the class of all containers: type checkers see it as a base class.
from ..protocol.array_function import ReductionMethods
from ..protocol.array_methods import ArrayMethods
from ..protocol.array_object import ArrayObject
from ..protocol.subscripts import Subscripts
from ..protocol.ufuncs import Elementwise
from ..protocol.windows import WindowMethods

class ProtocolMethods(Elementwise, Subscripts, ReductionMethods, ArrayMethods, ArrayObject, WindowMethods): ...
