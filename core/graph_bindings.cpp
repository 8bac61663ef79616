// Arrays in, arrays filled; exceptions translated. No decisions here.

#include <nanobind/stl/optional.h>

#include <optional>

#include "arrays.hpp"
#include "equal_rows.hpp"
#include "merge.hpp"
#include "neighbors.hpp"
#include "symmetry.hpp"

namespace nb = nanobind;
using namespace labelcut;

namespace {

Shortening as_shortening(const Vector<double>& center, const Vector<std::int32_t>& column, std::int64_t n_kept, double unit) {
  return {static_cast<std::int64_t>(center.size()), n_kept, center.data(), column.data(), unit};
}

template <typename Row>
DistinctRows<Row> as_rows(const Matrix<Row>& rows, const Vector<std::int32_t>& equal, const Vector<std::int64_t>& equal_start) {
  return {static_cast<std::int64_t>(rows.shape(0)), static_cast<std::int64_t>(rows.shape(1)), rows.data(), equal.data(),
          equal_start.data()};
}

template <typename Row>
void define_nearest_center(nb::module_& module) {
  module.def(
      "nearest_center",
      [](Matrix<Row> rows, Vector<double> center, Vector<std::int32_t> column, std::int64_t n_kept, double unit,
         Matrix<double> cell_center, int n_threads, nb::callable poll, Filled<std::int32_t> number, Filled<double> distance) {
        nb::gil_scoped_release release;
        nearest_center(rows.data(), static_cast<std::int64_t>(rows.shape(0)), as_shortening(center, column, n_kept, unit),
                       cell_center.data(), static_cast<std::int64_t>(cell_center.shape(0)), n_threads, as_poll(poll),
                       number.data(), distance.data());
      },
      nb::arg("rows").noconvert(), nb::arg("center"), nb::arg("column"), nb::arg("n_kept"), nb::arg("unit"),
      nb::arg("cell_center"), nb::arg("n_threads"), nb::arg("poll"), nb::arg("number").noconvert(),
      nb::arg("distance").noconvert());
}

template <typename Row, typename Number>
void define_search(nb::module_& module) {
  module.def(
      "pack_cells",
      [](Matrix<Row> rows, Vector<double> center, Vector<std::int32_t> column, std::int64_t n_kept, double unit,
         Vector<std::int64_t> cell_start, Filled<Number> table) {
        nb::gil_scoped_release release;
        const DistinctRows<Row> all{static_cast<std::int64_t>(rows.shape(0)), static_cast<std::int64_t>(rows.shape(1)),
                                    rows.data(), nullptr, nullptr};
        pack_cells(all, as_shortening(center, column, n_kept, unit), cell_start.data(),
                   static_cast<std::int64_t>(cell_start.size()) - 1, table.data());
      },
      nb::arg("rows").noconvert(), nb::arg("center"), nb::arg("column"), nb::arg("n_kept"), nb::arg("unit"),
      nb::arg("cell_start"), nb::arg("table").noconvert());
  module.def(
      "search",
      [](Matrix<Row> rows, Vector<std::int32_t> equal, Vector<std::int64_t> equal_start, Vector<double> center,
         Vector<std::int32_t> column, std::int64_t n_kept, double unit, Vector<std::int64_t> cell_start,
         Matrix<double> cell_center, Vector<double> cell_radius, Vector<Number> table, std::optional<Matrix<Row>> queries,
         std::int64_t n_visited, int n_threads, nb::callable poll, Filled<std::int32_t> index, Filled<Row> distance) {
        nb::gil_scoped_release release;
        const Cells<Number> cells{static_cast<std::int64_t>(cell_start.size()) - 1, cell_start.data(), cell_center.data(),
                                  cell_radius.data(), table.data()};
        const Queries<Row> asked{static_cast<std::int64_t>(queries ? queries->shape(0) : 0),
                                 queries ? queries->data() : nullptr, static_cast<std::int64_t>(index.shape(1)), n_visited};
        return search(as_rows(rows, equal, equal_start), as_shortening(center, column, n_kept, unit), cells, asked, n_threads,
                      as_poll(poll), Nearest<Row>{index.data(), distance.data()});
      },
      nb::arg("rows").noconvert(), nb::arg("equal"), nb::arg("equal_start"), nb::arg("center"), nb::arg("column"),
      nb::arg("n_kept"), nb::arg("unit"), nb::arg("cell_start"), nb::arg("cell_center"), nb::arg("cell_radius"),
      nb::arg("table").noconvert(), nb::arg("queries").noconvert().none(), nb::arg("n_visited"), nb::arg("n_threads"),
      nb::arg("poll"), nb::arg("index").noconvert(), nb::arg("distance").noconvert());
}

template <typename Weight>
void define_symmetry(nb::module_& module) {
  const auto as_lists = [](const Vector<std::int64_t>& start, const Filled<std::int32_t>& column, const Filled<Weight>& weight) {
    return Lists<Weight>{static_cast<std::int64_t>(start.size()) - 1, start.data(), column.data(), weight.data()};
  };
  module.def(
      "prepare_symmetry",
      [as_lists](Vector<std::int64_t> start, Filled<std::int32_t> column, Filled<Weight> weight,
                 Filled<std::int64_t> new_start) {
        nb::gil_scoped_release release;
        prepare_symmetry(as_lists(start, column, weight), new_start.data());
      },
      nb::arg("start"), nb::arg("column").noconvert(), nb::arg("weight").noconvert(), nb::arg("new_start").noconvert());
  module.def(
      "symmetrise",
      [as_lists](Vector<std::int64_t> start, Filled<std::int32_t> column, Filled<Weight> weight, bool is_mean,
                 Filled<std::int64_t> new_start) {
        nb::gil_scoped_release release;
        symmetrise(as_lists(start, column, weight), is_mean, new_start.data());
      },
      nb::arg("start"), nb::arg("column").noconvert(), nb::arg("weight").noconvert(), nb::arg("is_mean"),
      nb::arg("new_start").noconvert());
  module.def(
      "add_up_rows",
      [](Vector<std::int64_t> start, Vector<Weight> weight, Filled<double> sum) {
        nb::gil_scoped_release release;
        add_up_rows(static_cast<std::int64_t>(start.size()) - 1, start.data(), weight.data(), sum.data());
      },
      nb::arg("start"), nb::arg("weight").noconvert(), nb::arg("sum").noconvert());
}

}  // namespace

NB_MODULE(_core, module) {
  define_nearest_center<float>(module);
  define_nearest_center<double>(module);
  define_search<float, float>(module);
  define_search<float, double>(module);
  define_search<double, float>(module);
  define_search<double, double>(module);
  define_symmetry<float>(module);
  define_symmetry<double>(module);
  module.def(
      "number_parts",
      [](Vector<std::int64_t> start, Vector<std::int32_t> column, Filled<std::int32_t> part) {
        nb::gil_scoped_release release;
        return number_parts(static_cast<std::int64_t>(start.size()) - 1, start.data(), column.data(), part.data());
      },
      nb::arg("start"), nb::arg("column"), nb::arg("part").noconvert());
  module.def(
      "number_equal_rows",
      [](Matrix<double> matrix, Filled<std::int32_t> number) {
        nb::gil_scoped_release release;
        return number_equal_rows(matrix.data(), static_cast<std::int64_t>(matrix.shape(0)),
                                 static_cast<std::int64_t>(matrix.shape(1)), number.data());
      },
      nb::arg("matrix"), nb::arg("number").noconvert());
  module.def(
      "merge_nearest",
      [](Vector<std::int32_t> at, Matrix<std::int32_t> row, Matrix<float> distance, Filled<std::int32_t> best_row,
         Filled<float> best_distance) {
        nb::gil_scoped_release release;
        merge_nearest(static_cast<std::int64_t>(at.size()), at.data(), row.data(), distance.data(),
                      NearestLists{static_cast<std::int64_t>(row.shape(1)), best_row.data(), best_distance.data()});
      },
      nb::arg("at"), nb::arg("row").noconvert(), nb::arg("distance").noconvert(), nb::arg("best_row").noconvert(),
      nb::arg("best_distance").noconvert());
  module.def("table_size", [](Vector<std::int64_t> cell_start, std::int64_t n_short, std::int64_t n_lanes) {
    return table_size(cell_start.data(), static_cast<std::int64_t>(cell_start.size()) - 1, n_short, n_lanes);
  });
}
