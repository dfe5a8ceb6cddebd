// Keys of rows, orders, sums by group or place, interval unions.
#include <pybind11/stl.h>

#include "bindings/tree_arrays.hpp"
#include "bindings/tree_parts.hpp"
#include "tree/intervals.hpp"
#include "tree/place_sums.hpp"
#include "tree/row_keys.hpp"
#include "tree/sort_order.hpp"
#include "tree/stats.hpp"

namespace dctx {
namespace {

template <class T>
bool take_column(const py::array& array, IntType type, py::array& owner, KeyColumn& column) {
  if (!py::isinstance<py::array_t<T>>(array)) return false;
  const auto plain = py::array_t<T, kPlainArray>::ensure(array);
  if (!plain) throw py::error_already_set();
  column = {plain.data(), type};
  owner = plain;
  return true;
}

KeyColumn key_column(const py::array& array, const char* name, py::array& owner) {
  check_one_dimension(array, name);
  KeyColumn column{};
  const bool taken = take_column<int8_t>(array, IntType::I8, owner, column) ||
                     take_column<uint8_t>(array, IntType::U8, owner, column) ||
                     take_column<bool>(array, IntType::U8, owner, column) ||
                     take_column<int16_t>(array, IntType::I16, owner, column) ||
                     take_column<uint16_t>(array, IntType::U16, owner, column) ||
                     take_column<int32_t>(array, IntType::I32, owner, column) ||
                     take_column<uint32_t>(array, IntType::U32, owner, column) ||
                     take_column<int64_t>(array, IntType::I64, owner, column) ||
                     take_column<uint64_t>(array, IntType::U64, owner, column);
  if (!taken) {
    throw std::invalid_argument(std::string(name) + ": expected integers, got " +
                                std::string(py::str(array.dtype())));
  }
  return column;
}

// Integer columns of any width and one length.
class KeyInput {
 public:
  KeyInput(const py::sequence& columns, const char* name) {
    for (const py::handle item : columns) {
      if (!py::isinstance<py::array>(item)) {
        throw py::type_error(std::string(name) + ": expected numpy arrays");
      }
      const auto array = py::reinterpret_borrow<py::array>(item);
      const auto rows = static_cast<size_t>(array.size());
      if (!owners_.empty() && rows != table_.rows) {
        throw std::invalid_argument(std::string(name) + ": the columns differ in length");
      }
      table_.rows = rows;
      table_.columns.push_back(key_column(array, name, owners_.emplace_back()));
    }
    if (owners_.empty()) throw std::invalid_argument(std::string(name) + ": no columns");
  }
  const KeyColumns& table() const { return table_; }

 private:
  std::vector<py::array> owners_;
  KeyColumns table_;
};

py::tuple intern_rows_of(const py::sequence& columns) {
  const KeyInput in(columns, "columns");
  InternedRows rows = without_gil([&] { return intern_rows(in.table()); });
  return py::make_tuple(to_array(std::move(rows.ids)), to_array(std::move(rows.first_rows)));
}

py::array_t<int32_t> join_first_of(const py::sequence& left, const py::sequence& right) {
  const KeyInput left_in(left, "left");
  const KeyInput right_in(right, "right");
  return to_array(without_gil([&] { return join_first(left_in.table(), right_in.table()); }));
}

py::array_t<uint32_t> sort_order_of(const py::sequence& keys) {
  const KeyInput in(keys, "keys");
  return to_array(without_gil([&] { return sort_order(in.table()); }));
}

bool is_sorted_by(const py::sequence& keys) {
  const KeyInput in(keys, "keys");
  return without_gil([&] { return is_sorted(in.table()); });
}

struct GroupStatsArrays {
  py::array_t<int64_t> group, count, sum, min, max;
  py::array_t<double> sum_squares;
};

GroupStatsArrays group_stats_of(const py::array& group, const py::array& value) {
  py::array owner;
  const KeyColumn groups = key_column(group, "group", owner);
  const Input<int64_t> values(value, "value");
  values.of_length(static_cast<size_t>(owner.size()));
  GroupStats stats = without_gil([&] { return group_stats(groups, values.data(), values.size()); });
  return {to_array(std::move(stats.group)), to_array(std::move(stats.count)),
          to_array(std::move(stats.sum)),   to_array(std::move(stats.min)),
          to_array(std::move(stats.max)),   to_array(std::move(stats.sum_squares))};
}

template <class Number>
py::array inclusive_as(const Input<int32_t>& parent, const py::array& exclusive) {
  const Input<Number> in(exclusive, "exclusive");
  in.of_length(parent.size());
  return to_array(without_gil([&] {
    check_parents(parent.data(), parent.size());
    std::vector<Number> sums(in.data(), in.data() + in.size());
    accumulate_to_parents(parent.data(), sums.data(), sums.size());
    return sums;
  }));
}

py::array inclusive_of(const py::array& parent, const py::array& exclusive) {
  const Input<int32_t> parents(parent, "parent");
  if (py::isinstance<py::array_t<double>>(exclusive)) {
    return inclusive_as<double>(parents, exclusive);
  }
  return inclusive_as<int64_t>(parents, exclusive);
}

class PlaceSumsObject {
 public:
  PlaceSumsObject(size_t groups, size_t values) : sums_(groups, values) {}

  void add(const py::array& place, const py::array& group, const py::sequence& values) {
    const Input<int32_t> places(place, "place"), groups(group, "group");
    groups.of_length(places.size());
    std::vector<Input<int64_t>> owners;
    std::vector<const int64_t*> columns;
    for (const py::handle value : values) {
      owners.emplace_back(py::cast<py::array>(value), "value").of_length(places.size());
      columns.push_back(owners.back().data());
    }
    sums_.with(
        [&](PlaceSums& sums) { sums.add(places.data(), groups.data(), columns, places.size()); });
  }

  py::tuple take() {
    PlaceSums::Columns rows = sums_.with([](PlaceSums& sums) { return sums.take(); });
    py::list values;
    for (std::vector<int64_t>& column : rows.values) values.append(to_array(std::move(column)));
    return py::make_tuple(to_array(std::move(rows.place)), to_array(std::move(rows.group)),
                          to_array(std::move(rows.count)), values);
  }

 private:
  Guarded<PlaceSums> sums_;
};

py::tuple subtree_samples_of(const py::array& parent, const py::array& step, const py::array& node,
                             const py::array& row_of, const py::array& value, const py::array& rank,
                             size_t ranks) {
  const Input<int32_t> parents(parent, "parent"), steps(step, "step"), nodes(node, "node");
  const Input<int64_t> rows(row_of, "row_of"), values(value, "value"), rank_in(rank, "rank");
  nodes.of_length(steps.size());
  values.of_length(steps.size());
  const StepValues in{steps.data(), nodes.data(), values.data(),  steps.size(),
                      rows.data(),  rows.size(),  rank_in.data(), rank_in.size()};
  SubtreeSamples found =
      without_gil([&] { return subtree_samples(parents.data(), parents.size(), in, ranks); });
  const std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(ranks),
                                       static_cast<py::ssize_t>(parents.size())};
  return py::make_tuple(to_array(std::move(found.own)).reshape(shape),
                        to_array(std::move(found.squares)).reshape(shape));
}

// The columns of grouped intervals, of one length.
struct IntervalInput {
  IntervalInput(const py::array& group_array, const py::array& start_array,
                const py::array& end_array)
      : group(group_array, "group"), start(start_array, "start"), end(end_array, "end") {
    start.of_length(group.size());
    end.of_length(group.size());
  }
  GroupedIntervals columns() const {
    return {group.data(), start.data(), end.data(), group.size()};
  }

  Input<int32_t> group;
  Input<int64_t> start, end;
};

py::array_t<int64_t> union_of(const py::array& group, const py::array& start, const py::array& end,
                              int32_t groups) {
  const IntervalInput in(group, start, end);
  return to_array(without_gil([&] { return union_ns(in.columns(), groups); }));
}

py::array cover_of(const py::array& group, const py::array& rank, const py::array& start,
                   const py::array& end, int32_t groups, int32_t ranks,
                   std::pair<int64_t, int64_t> window) {
  const IntervalInput in(group, start, end);
  const Input<uint8_t> rank_in(rank, "rank");
  rank_in.of_length(in.group.size());
  py::array table = to_array(without_gil([&] {
    return cover(in.columns(), rank_in.data(), groups, ranks, window.first, window.second);
  }));
  return table.reshape({static_cast<py::ssize_t>(groups), static_cast<py::ssize_t>(ranks) + 1});
}

}  // namespace

void bind_rows(py::module_& m) {
  m.def("intern_rows", &intern_rows_of, py::arg("columns"));
  m.def("join_first", &join_first_of, py::arg("left"), py::arg("right"));
  m.def("sort_order", &sort_order_of, py::arg("keys"));
  m.def("is_sorted", &is_sorted_by, py::arg("keys"));
  py::class_<GroupStatsArrays>(m, "GroupStats", py::is_final())
      .def_readonly("group", &GroupStatsArrays::group)
      .def_readonly("count", &GroupStatsArrays::count)
      .def_readonly("sum", &GroupStatsArrays::sum)
      .def_readonly("min", &GroupStatsArrays::min)
      .def_readonly("max", &GroupStatsArrays::max)
      .def_readonly("sum_squares", &GroupStatsArrays::sum_squares);
  m.def("group_stats", &group_stats_of, py::arg("group"), py::arg("value"));
  m.def("inclusive", &inclusive_of, py::arg("parent"), py::arg("exclusive"));
  py::class_<PlaceSumsObject>(m, "PlaceSums", py::is_final())
      .def(py::init<size_t, size_t>(), py::arg("groups"), py::arg("values"))
      .def("add", &PlaceSumsObject::add, py::arg("place"), py::arg("group"), py::arg("values"))
      .def("take", &PlaceSumsObject::take);
  m.def("subtree_samples", &subtree_samples_of, py::arg("parent"), py::arg("step"), py::arg("node"),
        py::arg("row_of"), py::arg("value"), py::arg("rank"), py::arg("ranks"));
  m.def("union_ns", &union_of, py::arg("group"), py::arg("start"), py::arg("end"),
        py::arg("groups"));
  m.def("cover", &cover_of, py::arg("group"), py::arg("rank"), py::arg("start"), py::arg("end"),
        py::arg("groups"), py::arg("ranks"), py::arg("window"));
}

}  // namespace dctx
