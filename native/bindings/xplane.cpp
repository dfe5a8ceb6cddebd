// XSpace files and the HLO modules inside them, as numpy columns.
#include "scan/xplane.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/numpy.hpp"
#include "scan/hlo.hpp"

namespace py = pybind11;

namespace dctx {
namespace {

using scan::HloModule;
using scan::StatColumns;
using scan::XSpace;

// The bytes of any object with a contiguous buffer, for as long as this lives.
class Bytes {
 public:
  explicit Bytes(const py::object& object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw py::error_already_set();
  }
  ~Bytes() { PyBuffer_Release(&view_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  std::string_view text() const {
    return {static_cast<const char*>(view_.buf), static_cast<size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

template <class T>
using Shared = std::shared_ptr<T>;

template <class Owner, class T>
py::array_t<T> view(const Shared<Owner>& owner, const std::vector<T>& values) {
  return array_view(owner, values.data(), values.size());
}

struct ReadSpace {
  Shared<XSpace> space;
  std::map<std::string, size_t> numbers, texts;
  std::vector<std::tuple<size_t, std::string, size_t, size_t>> blobs;
};

ReadSpace read_xspace(const py::object& data, const std::vector<std::string>& numbers,
                      const std::vector<std::string>& texts, StringPool& pool) {
  const Bytes bytes(data);
  ReadSpace out;
  for (size_t i = 0; i < numbers.size(); ++i) out.numbers[numbers[i]] = i;
  for (size_t i = 0; i < texts.size(); ++i) out.texts[texts[i]] = i;
  {
    const py::gil_scoped_release unlocked;
    out.space = std::make_shared<XSpace>(scan::read_xspace(bytes.text(), numbers, texts, pool));
    // A column ends at the last row that was set.
    const auto pad = [](StatColumns& columns, size_t rows) {
      const auto to_rows = [rows](auto& column) {
        if (!column.values.empty()) column.values.resize(rows, column.null);
      };
      for (auto& column : columns.numbers) to_rows(column);
      for (auto& column : columns.texts) to_rows(column);
      to_rows(columns.rest);
    };
    pad(out.space->event_stats, out.space->event_line.size());
    pad(out.space->metadata_stats, out.space->metadata_id.size());
  }
  for (const scan::XPlaneBlob& blob : out.space->blobs) {
    const auto offset = static_cast<size_t>(blob.bytes.data() - bytes.text().data());
    out.blobs.emplace_back(blob.metadata, blob.name, offset, blob.bytes.size());
  }
  return out;
}

const StatColumns& stats_of(const ReadSpace& self, const std::string& of) {
  if (of == "events") return self.space->event_stats;
  if (of == "metadata") return self.space->metadata_stats;
  throw py::value_error("expected events or metadata, got " + of);
}

template <class T>
std::optional<py::array_t<T>> column(const ReadSpace& self, const scan::SparseColumn<T>& values) {
  if (values.values.empty()) return std::nullopt;
  return view(self.space, values.values);
}

size_t index_of(const std::map<std::string, size_t>& names, const std::string& name) {
  const auto found = names.find(name);
  if (found == names.end()) throw py::key_error(name);
  return found->second;
}

py::list damage_of(const XSpace& space) {
  py::list out;
  for (const scan::XPlaneDamage& damage : space.damage) {
    const bool in_plane = damage.plane >= 0;
    const std::string plane =
        in_plane ? space.planes[static_cast<size_t>(damage.plane)].name : std::string();
    out.append(py::make_tuple(plane, damage.offset, damage.reason));
  }
  return out;
}

void bind_space(py::module_& m) {
  py::class_<ReadSpace>(m, "XSpace", py::is_final())
      .def_property_readonly("planes",
                             [](const ReadSpace& self) {
                               py::list out;
                               for (const scan::XPlane& plane : self.space->planes) {
                                 out.append(py::make_tuple(plane.id, plane.name));
                               }
                               return out;
                             })
      .def_property_readonly("plane_stats",
                             [](const ReadSpace& self) {
                               py::list out;
                               for (const scan::XPlaneStat& stat : self.space->plane_stats) {
                                 out.append(py::make_tuple(stat.plane, stat.name, stat.value));
                               }
                               return out;
                             })
      .def_property_readonly("hostnames",
                             [](const ReadSpace& self) { return self.space->hostnames; })
      .def_property_readonly("errors", [](const ReadSpace& self) { return self.space->errors; })
      .def_property_readonly("warnings", [](const ReadSpace& self) { return self.space->warnings; })
      .def_property_readonly("damage", [](const ReadSpace& self) { return damage_of(*self.space); })
      .def_property_readonly("aggregated",
                             [](const ReadSpace& self) { return self.space->aggregated; })
      .def_property_readonly("bad_time", [](const ReadSpace& self) { return self.space->bad_time; })
      .def_property_readonly("negative_dur",
                             [](const ReadSpace& self) { return self.space->negative_dur; })
      .def_property_readonly("blobs", [](const ReadSpace& self) { return self.blobs; })
      .def("lines",
           [](const ReadSpace& self) {
             const auto& [space, data] = std::tie(self.space, *self.space);
             py::dict out;
             out["plane"] = view(space, data.line_plane);
             out["id"] = view(space, data.line_id);
             out["name"] = view(space, data.line_name);
             out["display"] = view(space, data.line_display);
             out["timestamp_ns"] = view(space, data.line_timestamp_ns);
             return out;
           })
      .def("metadata",
           [](const ReadSpace& self) {
             const auto& [space, data] = std::tie(self.space, *self.space);
             py::dict out;
             out["plane"] = view(space, data.metadata_plane);
             out["id"] = view(space, data.metadata_id);
             out["name"] = view(space, data.metadata_name);
             out["display"] = view(space, data.metadata_display);
             return out;
           })
      .def("events",
           [](const ReadSpace& self) {
             const auto& [space, data] = std::tie(self.space, *self.space);
             py::dict out;
             out["line"] = view(space, data.event_line);
             out["metadata"] = view(space, data.event_metadata);
             out["start_ns"] = view(space, data.event_start_ns);
             out["dur_ns"] = view(space, data.event_dur_ns);
             out["instant"] = view(space, data.event_instant);
             return out;
           })
      .def(
          "number",
          [](const ReadSpace& self, const std::string& name, const std::string& of) {
            return column(self, stats_of(self, of).numbers[index_of(self.numbers, name)]);
          },
          py::arg("name"), py::kw_only(), py::arg("of") = "events")
      .def(
          "text",
          [](const ReadSpace& self, const std::string& name, const std::string& of) {
            return column(self, stats_of(self, of).texts[index_of(self.texts, name)]);
          },
          py::arg("name"), py::kw_only(), py::arg("of") = "events")
      .def(
          "rest",
          [](const ReadSpace& self, const std::string& of) {
            return column(self, stats_of(self, of).rest);
          },
          py::kw_only(), py::arg("of") = "events");
  m.def("read_xspace", &read_xspace, py::arg("data"), py::kw_only(), py::arg("numbers"),
        py::arg("texts"), py::arg("pool"));
}

using SharedHlo = Shared<HloModule>;

void bind_hlo(py::module_& m) {
  py::class_<HloModule, SharedHlo>(m, "HloModule", py::is_final())
      .def_readonly("name", &HloModule::name)
      .def_readonly("id", &HloModule::id)
      .def_property_readonly("damaged",
                             [](const HloModule& self) -> std::optional<std::string> {
                               if (self.damage == nullptr) return std::nullopt;
                               return "offset " + std::to_string(self.damage_offset) + ": " +
                                      self.damage;
                             })
      .def("computations",
           [](const SharedHlo& self) {
             py::dict out;
             out["id"] = view(self, self->computation_id);
             out["name"] = view(self, self->computation_name);
             return out;
           })
      .def("instructions",
           [](const SharedHlo& self) {
             py::dict out;
             out["computation"] = view(self, self->computation);
             out["name"] = view(self, self->instruction_name);
             out["opcode"] = view(self, self->opcode);
             out["op_name"] = view(self, self->op_name);
             out["file"] = view(self, self->file);
             out["line"] = view(self, self->line);
             out["stack"] = view(self, self->stack);
             return out;
           })
      .def("calls",
           [](const SharedHlo& self) {
             return py::make_tuple(view(self, self->called_offsets), view(self, self->called));
           })
      .def("stacks", [](const SharedHlo& self) {
        py::dict out;
        out["offsets"] = view(self, self->stack_offsets);
        out["file"] = view(self, self->stack_file);
        out["function"] = view(self, self->stack_function);
        out["line"] = view(self, self->stack_line);
        return out;
      });
  m.def(
      "read_hlo",
      [](const py::object& data, StringPool& pool) {
        const Bytes bytes(data);
        const py::gil_scoped_release unlocked;
        return std::make_shared<HloModule>(scan::read_hlo(bytes.text(), pool));
      },
      py::arg("data"), py::kw_only(), py::arg("pool"));
}

}  // namespace

void bind_xplane(py::module_& m) {
  bind_space(m);
  bind_hlo(m);
}

}  // namespace dctx
