// Views of a finished tree: visible rows, bottom-up.
#include <pybind11/stl.h>

#include <optional>
#include <tuple>

#include "bindings/text_object.hpp"
#include "bindings/tree_arrays.hpp"
#include "bindings/tree_parts.hpp"
#include "tree/align.hpp"
#include "tree/bottom_up.hpp"
#include "tree/tree_model.hpp"

namespace dctx {
namespace {

using SharedModel = Guarded<TreeModel>;

std::unique_ptr<SharedModel> make_model(const py::array& parent) {
  const Input<int32_t> in(parent, "parent");
  return without_gil([&] {
    return std::make_unique<SharedModel>(std::vector<int32_t>(in.data(), in.data() + in.size()));
  });
}

// Calls work(pointer to the keys) for a key column of either number type.
template <class Work>
auto with_key(const py::array& key, size_t nodes, Work&& work) {
  if (py::isinstance<py::array_t<double>>(key)) {
    const Input<double> in(key, "key");
    return work(in.of_length(nodes).data());
  }
  const Input<int64_t> in(key, "key");
  return work(in.of_length(nodes).data());
}

size_t size_of(SharedModel& model) {
  return model.briefly([](const TreeModel& m) { return m.size(); });
}

void set_order(SharedModel& model, const py::array& key, bool descending) {
  with_key(key, size_of(model), [&](const auto* keys) {
    model.with([&](TreeModel& m) { m.set_order(keys, descending); });
  });
}

void set_filter(SharedModel& model, const std::optional<py::array>& match) {
  if (!match) return model.with([](TreeModel& m) { m.set_filter(nullptr); });
  const Input<uint8_t> in(*match, "match");
  in.of_length(size_of(model));
  model.with([&](TreeModel& m) { m.set_filter(in.data()); });
}

py::array_t<int32_t> rows(SharedModel& model, int64_t first, int64_t count) {
  if (first < 0 || count < 0) throw std::invalid_argument("first or count is negative");
  return to_array(model.briefly([&](const TreeModel& m) {
    return m.rows(static_cast<size_t>(first), static_cast<size_t>(count));
  }));
}

py::array_t<int32_t> hot_path(SharedModel& model, int32_t node, const py::array& key,
                              double share) {
  return with_key(key, size_of(model), [&](const auto* keys) {
    return to_array(model.with([&](const TreeModel& m) { return m.hot_path(node, keys, share); }));
  });
}

// A method of one node, by its name: what a key press asks for.
template <auto Method>
auto of_node(SharedModel& model, int32_t node) {
  return model.briefly([&](TreeModel& m) { return (m.*Method)(node); });
}

template <auto Method>
auto of_model(SharedModel& model) {
  return model.with([](TreeModel& m) { return (m.*Method)(); });
}

struct BottomUpArrays {
  py::array_t<int32_t> parent, frame;
  py::array_t<int16_t> depth;
  py::array_t<int32_t> source;
  py::list values;
  bool truncated;
};

BottomUpArrays bottom_up_of(const py::array& parent, const py::array& frame,
                            const py::sequence& exclusive, int64_t max_nodes) {
  const Input<int32_t> parents(parent, "parent");
  const Input<int32_t> frames(frame, "frame");
  frames.of_length(parents.size());
  if (max_nodes < 0) throw std::invalid_argument("max_nodes is negative");
  std::vector<std::variant<Input<int64_t>, Input<double>>> inputs;
  std::vector<MetricColumn> columns;
  for (const py::handle item : exclusive) {
    if (!py::isinstance<py::array>(item)) {
      throw py::type_error("exclusive: expected numpy arrays");
    }
    const auto array = py::reinterpret_borrow<py::array>(item);
    if (py::isinstance<py::array_t<double>>(array)) {
      inputs.emplace_back(Input<double>(array, "exclusive"));
    } else {
      inputs.emplace_back(Input<int64_t>(array, "exclusive"));
    }
    std::visit([&](const auto& in) { columns.emplace_back(in.of_length(parents.size()).data()); },
               inputs.back());
  }
  BottomUp result = without_gil([&] {
    return bottom_up(parents.data(), frames.data(), parents.size(), columns,
                     static_cast<size_t>(max_nodes));
  });
  py::list values;
  for (auto& column : result.values) {
    std::visit([&](auto& numbers) { values.append(to_array(std::move(numbers))); }, column);
  }
  return {to_array(std::move(result.parent)),
          to_array(std::move(result.frame)),
          to_array(std::move(result.depth)),
          to_array(std::move(result.source)),
          std::move(values),
          result.truncated};
}

void bind_model(py::module_& m) {
  py::class_<SharedModel>(m, "TreeModel", py::is_final())
      .def(py::init(&make_model), py::arg("parent"))
      .def("set_order", &set_order, py::arg("key"), py::arg("descending") = true)
      .def("set_filter", &set_filter, py::arg("match").none(true))
      .def("expand", &of_node<&TreeModel::expand>, py::arg("node"))
      .def("collapse", &of_node<&TreeModel::collapse>, py::arg("node"))
      .def("expand_subtree", &of_node<&TreeModel::expand_subtree>, py::arg("node"))
      .def("expand_all", &of_model<&TreeModel::expand_all>)
      .def("collapse_all", &of_model<&TreeModel::collapse_all>)
      .def("reveal", &of_node<&TreeModel::reveal>, py::arg("node"))
      .def("is_expanded", &of_node<&TreeModel::is_expanded>, py::arg("node"))
      .def("has_children", &of_node<&TreeModel::has_children>, py::arg("node"))
      .def(
          "children",
          [](SharedModel& model, int32_t node) {
            return to_array(of_node<&TreeModel::children>(model, node));
          },
          py::arg("node"))
      .def("row_count",
           [](SharedModel& model) {
             return model.briefly([](const TreeModel& tree) { return tree.row_count(); });
           })
      .def("rows", &rows, py::arg("first"), py::arg("count"))
      .def("row_of", &of_node<&TreeModel::row_of>, py::arg("node"))
      .def("hot_path", &hot_path, py::arg("node"), py::arg("key"), py::arg("share") = 0.5);
}

using TreeColumns = std::tuple<py::array, py::array, py::array>;

// Parent, key and name of the nodes of a tree.
class TreeInput {
 public:
  explicit TreeInput(const TreeColumns& columns)
      : parent_(std::get<0>(columns), "parent"),
        key_(std::get<1>(columns), "key"),
        name_(std::get<2>(columns), "name") {
    key_.of_length(parent_.size());
    name_.of_length(parent_.size());
  }
  AlignTree tree() const { return {parent_.data(), key_.data(), name_.data(), parent_.size()}; }

 private:
  Input<int32_t> parent_, key_, name_;
};

struct MergedArrays {
  py::array_t<int32_t> base, target, parent;
  py::array_t<uint8_t> kind;
};

MergedArrays align_of(const TreeColumns& base, const TreeColumns& target, const TextColumn& names,
                      const py::array& layers, const py::array& kinds) {
  const TreeInput base_in(base), target_in(target);
  const Input<uint8_t> layers_in(layers, "layers"), kinds_in(kinds, "kinds");
  const std::shared_ptr<const TextData> texts = names.data;
  layers_in.of_length(texts->size());
  kinds_in.of_length(texts->size());
  MergedTree merged = without_gil([&] {
    return align_trees(base_in.tree(), target_in.tree(),
                       {texts.get(), layers_in.data(), kinds_in.data(), texts->size()});
  });
  return {to_array(std::move(merged.base)), to_array(std::move(merged.target)),
          to_array(std::move(merged.parent)), to_array(std::move(merged.kind))};
}

}  // namespace

void bind_views(py::module_& m) {
  bind_model(m);
  py::class_<BottomUpArrays>(m, "BottomUp", py::is_final())
      .def_readonly("parent", &BottomUpArrays::parent)
      .def_readonly("frame", &BottomUpArrays::frame)
      .def_readonly("depth", &BottomUpArrays::depth)
      .def_readonly("source", &BottomUpArrays::source)
      .def_readonly("values", &BottomUpArrays::values)
      .def_readonly("truncated", &BottomUpArrays::truncated);
  m.def("bottom_up", &bottom_up_of, py::arg("parent"), py::arg("frame"), py::arg("exclusive"),
        py::kw_only(), py::arg("max_nodes") = 2'000'000);
  py::class_<MergedArrays>(m, "MergedTree", py::is_final())
      .def_readonly("base", &MergedArrays::base)
      .def_readonly("target", &MergedArrays::target)
      .def_readonly("parent", &MergedArrays::parent)
      .def_readonly("kind", &MergedArrays::kind);
  m.def("align_trees", &align_of, py::arg("base"), py::arg("target"), py::arg("names"),
        py::arg("layers"), py::arg("kinds"));
}

}  // namespace dctx
