# The public names of dtl.fft, one a line, as in the stub of dtl.

from .frequencies import fftfreq as fftfreq
from .frequencies import fftshift as fftshift
from .frequencies import ifftshift as ifftshift
from .frequencies import rfftfreq as rfftfreq
from .transforms import fft as fft
from .transforms import fft2 as fft2
from .transforms import fftn as fftn
from .transforms import hfft as hfft
from .transforms import ifft as ifft
from .transforms import ifft2 as ifft2
from .transforms import ifftn as ifftn
from .transforms import ihfft as ihfft
from .transforms import irfft as irfft
from .transforms import irfft2 as irfft2
from .transforms import irfftn as irfftn
from .transforms import rfft as rfft
from .transforms import rfft2 as rfft2
from .transforms import rfftn as rfftn
