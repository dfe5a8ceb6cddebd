// The calling context tree.
#include <pybind11/stl.h>

#include <optional>

#include "bindings/tree_arrays.hpp"
#include "bindings/tree_nesting.hpp"
#include "bindings/tree_parts.hpp"
#include "tree/path_tree.hpp"

namespace dctx {
namespace {

using SharedTree = Guarded<PathTree>;

struct ChainInput {
  ChainInput(const py::array& offset_array, const py::array& frame_array)
      : offsets(offset_array, "chain_offsets"), frames(frame_array, "chain_frames") {
    if (offsets.size() == 0) throw std::invalid_argument("chain_offsets: empty");
  }
  ChainColumns columns() const {
    return {offsets.data(), offsets.size() - 1, frames.data(), frames.size()};
  }

  Input<int64_t> offsets;
  Input<int32_t> frames;
};

py::array_t<int32_t> frames(SharedTree& tree, const py::array& layer, const py::array& name,
                            const std::optional<py::array>& file,
                            const std::optional<py::array>& line) {
  const Input<uint8_t> layers(layer, "layer");
  const Input<int32_t> names(name, "name");
  names.of_length(layers.size());
  std::optional<Input<int32_t>> files;
  std::optional<Input<int32_t>> lines;
  if (file) files.emplace(*file, "file").of_length(layers.size());
  if (line) lines.emplace(*line, "line").of_length(layers.size());
  return to_array(tree.with([&](PathTree& t) {
    std::vector<int32_t> ids(layers.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      ids[i] = t.frame(layers.data()[i], names.data()[i], files ? files->data()[i] : -1,
                       lines ? lines->data()[i] : -1);
    }
    return ids;
  }));
}

py::array_t<int32_t> extend(SharedTree& tree, const py::array& parent, const py::array& frame) {
  const Input<int32_t> parents(parent, "parent");
  const Input<int32_t> own(frame, "frame");
  own.of_length(parents.size());
  return to_array(
      tree.with([&](PathTree& t) { return t.extend(parents.data(), own.data(), parents.size()); }));
}

py::array_t<int32_t> extend_folded(SharedTree& tree, const py::array& parent,
                                   const py::array& frame, const py::array& fate) {
  const Input<int32_t> parents(parent, "parent");
  const Input<int32_t> own(frame, "frame");
  const Input<int8_t> fates(fate, "fate");
  own.of_length(parents.size());
  fates.of_length(parents.size());
  return to_array(tree.with([&](PathTree& t) {
    return t.extend_folded(parents.data(), own.data(), fates.data(), parents.size());
  }));
}

py::array_t<int32_t> extend_nested(SharedTree& tree, const NestingObject& nesting,
                                   const py::array& frame, const py::array& lane_root,
                                   const std::optional<py::array>& chain,
                                   const std::optional<py::array>& chain_offsets,
                                   const std::optional<py::array>& chain_frames,
                                   const std::optional<py::array>& anchor, int32_t anchor_frame) {
  const size_t rows = nesting.data->order.size();
  const Input<int32_t> own(frame, "frame");
  const Input<int32_t> roots(lane_root, "lane_root");
  own.of_length(rows);
  roots.of_length(rows);
  if (chain.has_value() != chain_offsets.has_value() ||
      chain.has_value() != chain_frames.has_value()) {
    throw std::invalid_argument("chain, chain_offsets and chain_frames go together");
  }
  std::optional<Input<int32_t>> chain_of;
  std::optional<ChainInput> chains;
  if (chain) {
    chain_of.emplace(*chain, "chain").of_length(rows);
    chains.emplace(*chain_offsets, *chain_frames);
  }
  std::optional<Input<int32_t>> anchors;
  if (anchor) anchors.emplace(*anchor, "anchor").of_length(rows);
  return to_array(tree.with([&](PathTree& t) {
    return t.extend_nested(*nesting.data, own.data(), roots.data(),
                           chain_of ? chain_of->data() : nullptr,
                           chains ? chains->columns() : ChainColumns{nullptr, 0, nullptr, 0},
                           anchors ? anchors->data() : nullptr, anchor_frame);
  }));
}

py::array_t<int32_t> extend_chains(SharedTree& tree, const py::array& base, const py::array& chain,
                                   const py::array& chain_offsets, const py::array& chain_frames) {
  const Input<int32_t> bases(base, "base");
  const Input<int32_t> chain_of(chain, "chain");
  chain_of.of_length(bases.size());
  const ChainInput chains(chain_offsets, chain_frames);
  return to_array(tree.with([&](PathTree& t) {
    return t.extend_chains(bases.data(), chain_of.data(), bases.size(), chains.columns());
  }));
}

py::dict columns(SharedTree& tree) {
  std::vector<int32_t> parent, frame, last;
  std::vector<int16_t> depth;
  tree.with([&](const PathTree& t) {
    parent = t.parent();
    depth = t.depth();
    frame = t.node_frame();
    last = t.last();
  });
  py::dict result;
  result["parent"] = to_array(std::move(parent));
  result["depth"] = to_array(std::move(depth));
  result["frame"] = to_array(std::move(frame));
  if (!last.empty()) result["last"] = to_array(std::move(last));
  return result;
}

py::dict frame_columns(SharedTree& tree) {
  FrameColumns copy = tree.with([](const PathTree& t) { return t.frames(); });
  py::dict result;
  result["layer"] = to_array(std::move(copy.layer));
  result["name"] = to_array(std::move(copy.name));
  result["file"] = to_array(std::move(copy.file));
  result["line"] = to_array(std::move(copy.line));
  return result;
}

}  // namespace

void bind_paths(py::module_& m) {
  py::class_<SharedTree>(m, "PathTree", py::is_final())
      .def(py::init<>())
      .def("__len__", [](SharedTree& t) { return t.briefly([](PathTree& p) { return p.size(); }); })
      .def(
          "frame",
          [](SharedTree& tree, uint8_t layer, int32_t name, int32_t file, int32_t line) {
            return tree.briefly([&](PathTree& t) { return t.frame(layer, name, file, line); });
          },
          py::arg("layer"), py::arg("name"), py::arg("file") = -1, py::arg("line") = -1)
      .def("frames", &frames, py::arg("layer"), py::arg("name"), py::arg("file") = py::none(),
           py::arg("line") = py::none())
      .def("frame_count",
           [](SharedTree& t) { return t.briefly([](PathTree& p) { return p.frame_count(); }); })
      .def(
          "child",
          [](SharedTree& tree, int32_t parent, int32_t frame) {
            return tree.briefly([&](PathTree& t) { return t.child(parent, frame); });
          },
          py::arg("parent"), py::arg("frame"))
      .def("extend", &extend, py::arg("parent"), py::arg("frame"))
      .def("extend_folded", &extend_folded, py::arg("parent"), py::arg("frame"), py::arg("fate"))
      .def("extend_nested", &extend_nested, py::arg("nesting"), py::arg("frame"),
           py::arg("lane_root"), py::kw_only(), py::arg("chain") = py::none(),
           py::arg("chain_offsets") = py::none(), py::arg("chain_frames") = py::none(),
           py::arg("anchor") = py::none(), py::arg("anchor_frame") = -1)
      .def("extend_chains", &extend_chains, py::arg("base"), py::arg("chain"),
           py::arg("chain_offsets"), py::arg("chain_frames"))
      .def("renumber",
           [](SharedTree& tree) {
             return to_array(tree.with([](PathTree& t) { return t.renumber(); }));
           })
      .def("columns", &columns)
      .def("frame_columns", &frame_columns);
}

}  // namespace dctx
