// Containment of events.
#include "bindings/tree_nesting.hpp"

#include <pybind11/stl.h>

#include <optional>

#include "bindings/tree_arrays.hpp"
#include "bindings/tree_parts.hpp"
#include "tree/pairing.hpp"

namespace dctx {
namespace {

struct EventInput {
  EventInput(const py::array& lane_array, const py::array& start_array, const py::array& end_array)
      : lane(lane_array, "lane"), start(start_array, "start"), end(end_array, "end") {
    start.of_length(lane.size());
    end.of_length(lane.size());
  }
  EventColumns columns() const { return {lane.data(), start.data(), end.data(), lane.size()}; }

  Input<int32_t> lane;
  Input<int64_t> start, end;
};

template <auto Member>
auto view(const NestingObject& nesting) {
  const auto& values = (*nesting.data).*Member;
  return array_view(nesting.data, values.data(), values.size());
}

NestingObject nest_of(const py::array& lane, const py::array& start, const py::array& end,
                      const py::array& rank, int64_t tolerance_ns,
                      const std::optional<py::array>& preferred) {
  const EventInput in(lane, start, end);
  const Input<uint8_t> rank_in(rank, "rank");
  rank_in.of_length(in.lane.size());
  std::optional<Input<int32_t>> known;
  if (preferred) known.emplace(*preferred, "preferred").of_length(in.lane.size());
  return without_gil([&] {
    return NestingObject{std::make_shared<const Nesting>(
        nest(in.columns(), rank_in.data(), tolerance_ns, known ? known->data() : nullptr))};
  });
}

py::array_t<int32_t> locate_of(const NestingObject& nesting, const py::array& lane,
                               const py::array& start, const py::array& end,
                               const py::array& point_lane, const py::array& point) {
  const EventInput in(lane, start, end);
  const Input<int32_t> lanes(point_lane, "point_lane");
  const Input<int64_t> points(point, "point");
  points.of_length(lanes.size());
  return to_array(without_gil([&] {
    return locate(*nesting.data, in.columns(), lanes.data(), points.data(), points.size());
  }));
}

py::array_t<int32_t> pair_marks_of(const py::array& group, const py::array& begins,
                                   const py::array& name) {
  const Input<int32_t> groups(group, "group");
  const Input<uint8_t> begin_flags(begins, "begins");
  const Input<int32_t> names(name, "name");
  begin_flags.of_length(groups.size());
  names.of_length(groups.size());
  return to_array(without_gil([&] {
    return pair_marks({groups.data(), begin_flags.data(), names.data(), groups.size()});
  }));
}

}  // namespace

void bind_nesting(py::module_& m) {
  py::class_<NestingObject>(m, "Nesting", py::is_final())
      .def_property_readonly("order", &view<&Nesting::order>)
      .def_property_readonly("parent", &view<&Nesting::parent>)
      .def_property_readonly("depth", &view<&Nesting::depth>)
      .def_property_readonly("self_ns", &view<&Nesting::self_ns>)
      .def_property_readonly("partial_overlaps", [](const NestingObject& nesting) {
        return nesting.data->partial_overlaps;
      });
  m.def("nest", &nest_of, py::arg("lane"), py::arg("start"), py::arg("end"), py::arg("rank"),
        py::kw_only(), py::arg("tolerance_ns") = 0, py::arg("preferred") = py::none());
  m.def("locate", &locate_of, py::arg("nesting"), py::arg("lane"), py::arg("start"), py::arg("end"),
        py::arg("point_lane"), py::arg("point"));
  m.def("pair_marks", &pair_marks_of, py::arg("group"), py::arg("begins"), py::arg("name"));
}

}  // namespace dctx
