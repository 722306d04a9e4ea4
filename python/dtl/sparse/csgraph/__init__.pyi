from .components import connected_components as connected_components
from .laplacians import laplacian as laplacian
from .orders import breadth_first_order as breadth_first_order
from .orders import reverse_cuthill_mckee as reverse_cuthill_mckee
from .paths import bellman_ford as bellman_ford
from .paths import dijkstra as dijkstra
from .trees import minimum_spanning_tree as minimum_spanning_tree
