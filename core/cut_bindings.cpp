// Arrays in, arrays out; exceptions translated. No decisions here.

#include <utility>
#include <vector>

#include "arrays.hpp"
#include "parametric_cut.hpp"

namespace nb = nanobind;
using labelcut::as_poll;
using labelcut::Vector;

namespace {

nb::object as_array(std::vector<double>&& values) {
  auto* owned = new std::vector<double>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<1>>(owned->data(), {owned->size()}, owner));
}

template <typename Capacity>
labelcut::Graph as_graph(const Vector<std::int64_t>& row_start, const Vector<std::int32_t>& column,
                         const Vector<Capacity>& capacity) {
  return {static_cast<std::int64_t>(row_start.size()) - 1, row_start.data(), column.data(), capacity.data()};
}

// Nothing is converted, so nothing is copied: capacities may be floats, and any array may lie in a file.
template <typename Capacity>
void define_solve_path(nb::module_& module) {
  module.def(
      "solve_path",
      [](Vector<std::int64_t> row_start, Vector<std::int32_t> column, Vector<Capacity> capacity, Vector<double> cost,
         Vector<double> slope, double t_min, double t_max, int n_threads, nb::callable poll) {
        std::vector<double> join_at;
        {
          nb::gil_scoped_release release;
          join_at = labelcut::solve_path(as_graph(row_start, column, capacity), cost.data(), slope.data(), t_min, t_max,
                                         n_threads, as_poll(poll));
        }
        return as_array(std::move(join_at));
      },
      nb::arg("row_start").noconvert(), nb::arg("column").noconvert(), nb::arg("capacity").noconvert(), nb::arg("cost"),
      nb::arg("slope"), nb::arg("t_min"), nb::arg("t_max"), nb::arg("n_threads"), nb::arg("poll"));
}

}  // namespace

NB_MODULE(_core, module) {
  define_solve_path<double>(module);
  define_solve_path<float>(module);
  module.def(
      "route",
      [](Vector<std::int64_t> row_start, Vector<std::int32_t> column, Vector<double> capacity, Vector<double> excess,
         nb::callable poll) {
        std::vector<double> flow;
        {
          nb::gil_scoped_release release;
          flow = labelcut::route(as_graph(row_start, column, capacity), excess.data(), as_poll(poll));
        }
        return as_array(std::move(flow));
      },
      nb::arg("row_start"), nb::arg("column"), nb::arg("capacity"), nb::arg("excess"), nb::arg("poll"));
}
