// Sets of intervals, lines to draw them on, and what threads did during spans of time.
#include <pybind11/stl.h>

#include "bindings/tree_arrays.hpp"
#include "bindings/tree_parts.hpp"
#include "tree/blame.hpp"
#include "tree/interval_sets.hpp"
#include "tree/levels.hpp"

namespace dctx {
namespace {

// Shared, so that arrays can outlive the Python object. It is never changed.
using Sets = std::shared_ptr<const IntervalSets>;

struct SetsObject {
  Sets sets;
};

template <class Work>
SetsObject made(Work&& work) {
  return {without_gil([&] { return std::make_shared<const IntervalSets>(work()); })};
}

SetsObject sets_of(const py::array& group, const py::array& start, const py::array& end,
                   int32_t groups) {
  const Input<int32_t> group_in(group, "group");
  const Input<int64_t> start_in(start, "start"), end_in(end, "end");
  start_in.of_length(group_in.size());
  end_in.of_length(group_in.size());
  return made([&] {
    return IntervalSets({group_in.data(), start_in.data(), end_in.data(), group_in.size()}, groups);
  });
}

SetsObject taken(const SetsObject& self, const py::array& groups) {
  const Input<int32_t> in(groups, "groups");
  return made([&] { return self.sets->take(in.data(), in.size()); });
}

py::array_t<int64_t> counted_inside(const SetsObject& self, const py::array& group,
                                    const py::array& point) {
  const Input<int32_t> groups(group, "group");
  const Input<int64_t> points(point, "point");
  points.of_length(groups.size());
  return to_array(without_gil(
      [&] { return self.sets->count_inside(groups.data(), points.data(), points.size()); }));
}

py::array_t<int32_t> levels_of(const py::array& start, const py::array& end) {
  const Input<int64_t> starts(start, "start"), ends(end, "end");
  ends.of_length(starts.size());
  return to_array(
      without_gil([&] { return stack_levels(starts.data(), ends.data(), starts.size()); }));
}

struct BlameArrays {
  py::array_t<int32_t> key, label;
  py::array_t<int64_t> ns;
};

BlameArrays blame_of(const py::array& lane, const py::array& start, const py::array& end,
                     const py::array& rank, const py::array& label, const py::array& span_lane,
                     const py::array& span_group, const py::array& span_key,
                     const py::array& span_start, const py::array& span_end) {
  const Input<int32_t> lanes(lane, "lane"), labels(label, "label");
  const Input<int64_t> starts(start, "start"), ends(end, "end");
  const Input<uint8_t> ranks(rank, "rank");
  const size_t rows = lanes.size();
  starts.of_length(rows);
  ends.of_length(rows);
  ranks.of_length(rows);
  labels.of_length(rows);
  const Input<int32_t> span_lanes(span_lane, "span_lane"), groups(span_group, "span_group"),
      keys(span_key, "span_key");
  const Input<int64_t> span_starts(span_start, "span_start"), span_ends(span_end, "span_end");
  const size_t spans = span_lanes.size();
  groups.of_length(spans);
  keys.of_length(spans);
  span_starts.of_length(spans);
  span_ends.of_length(spans);
  BlameRows out = without_gil([&] {
    return blame({lanes.data(), starts.data(), ends.data(), ranks.data(), labels.data(), rows},
                 {span_lanes.data(), groups.data(), keys.data(), span_starts.data(),
                  span_ends.data(), spans});
  });
  return {to_array(std::move(out.key)), to_array(std::move(out.label)),
          to_array(std::move(out.ns))};
}

}  // namespace

void bind_intervals(py::module_& m) {
  py::class_<SetsObject>(m, "IntervalSets", py::is_final())
      .def(py::init(&sets_of), py::arg("group"), py::arg("start"), py::arg("end"),
           py::arg("groups"))
      .def("__len__", [](const SetsObject& self) { return self.sets->groups(); })
      .def_property_readonly("count", [](const SetsObject& self) { return self.sets->count(); })
      .def_property_readonly(
          "group",
          [](const SetsObject& self) {
            return to_array(without_gil([&] { return self.sets->group_column(); }));
          })
      .def_property_readonly("start",
                             [](const SetsObject& self) {
                               const auto& values = self.sets->starts();
                               return array_view(self.sets, values.data(), values.size());
                             })
      .def_property_readonly("end",
                             [](const SetsObject& self) {
                               const auto& values = self.sets->ends();
                               return array_view(self.sets, values.data(), values.size());
                             })
      .def("lengths",
           [](const SetsObject& self) {
             return to_array(without_gil([&] { return self.sets->lengths(); }));
           })
      .def(
          "clip",
          [](const SetsObject& self, int64_t start, int64_t end) {
            return made([&] { return self.sets->clip(start, end); });
          },
          py::arg("start"), py::arg("end"))
      .def(
          "gaps",
          [](const SetsObject& self, int64_t start, int64_t end) {
            return made([&] { return self.sets->gaps(start, end); });
          },
          py::arg("start"), py::arg("end"))
      .def("count_inside", &counted_inside, py::arg("group"), py::arg("point"))
      .def(
          "overlap",
          [](const SetsObject& self, const SetsObject& other) {
            return to_array(without_gil([&] { return self.sets->overlap(*other.sets); }));
          },
          py::arg("other"))
      .def("take", &taken, py::arg("groups"))
      .def("__and__",
           [](const SetsObject& self, const SetsObject& other) {
             return made([&] { return self.sets->intersect(*other.sets); });
           })
      .def("__or__",
           [](const SetsObject& self, const SetsObject& other) {
             return made([&] { return self.sets->unite(*other.sets); });
           })
      .def("__sub__", [](const SetsObject& self, const SetsObject& other) {
        return made([&] { return self.sets->subtract(*other.sets); });
      });
  m.def("stack_levels", &levels_of, py::arg("start"), py::arg("end"));
  py::class_<BlameArrays>(m, "BlameRows", py::is_final())
      .def_readonly("key", &BlameArrays::key)
      .def_readonly("label", &BlameArrays::label)
      .def_readonly("ns", &BlameArrays::ns);
  m.def("blame", &blame_of, py::arg("lane"), py::arg("start"), py::arg("end"), py::arg("rank"),
        py::arg("label"), py::kw_only(), py::arg("span_lane"), py::arg("span_group"),
        py::arg("span_key"), py::arg("span_start"), py::arg("span_end"));
}

}  // namespace dctx
