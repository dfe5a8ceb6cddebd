// Rows of the side tables: combinations of args that many events share.
#include "scan/trace_event/router.hpp"
#include "scan/trace_event/seen_texts.hpp"

namespace dctx::trace_event {
namespace {

constexpr int64_t kNoInteger = null_value<int64_t>();

int64_t integer_or_null(const Event& event, Arg arg) {
  return event.present.has(arg) ? event.integer_of(arg) : kNoInteger;
}

double real_or_null(const Event& event, Arg arg) {
  return event.present.has(arg) ? event.real[static_cast<size_t>(arg)] : null_value<double>();
}

// Three numbers of an array: [16384, 1, 1].
Triple parse_triple(std::string_view array) {
  Triple out = {kNoInteger, kNoInteger, kNoInteger};
  std::string_view rest = array.substr(1, array.size() - 2);
  for (size_t i = 0; i < out.size() && !rest.empty(); ++i) {
    const size_t comma = rest.find(',');
    const NumberKind kind = parse_integer(rest.substr(0, comma), out[i]);
    if (kind != NumberKind::Fine && kind != NumberKind::Wide) out[i] = kNoInteger;
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
  }
  return out;
}

template <class T, class ColumnOfT, size_t kCount>
void put_all(size_t row, ColumnOfT* const (&columns)[kCount], const T* values) {
  for (size_t i = 0; i < kCount; ++i) {
    if (values[i] != columns[i]->null()) columns[i]->put(row, values[i]);
  }
}

}  // namespace

int32_t Router::shape(const Event& event, int32_t name) {
  const ShapeKey key = {arg_text(event, Arg::Dims), arg_text(event, Arg::Types),
                        arg_text(event, Arg::Strides), arg_text(event, Arg::Concrete)};
  const auto [id, is_new] = shape_keys_.intern(key, name);
  if (is_new) {
    ShapeTable& table = tables_.shape;
    TextColumn* const columns[] = {&table.dims, &table.types, &table.strides, &table.concrete};
    put_all(table.rows++, columns, key.data());
  }
  if (id < 0) report_.add(Reason::TextCap, offset_);
  return id;
}

Triple Router::triple(const Event& event, Arg arg) {
  if (!event.present.has(arg)) return {kNoInteger, kNoInteger, kNoInteger};
  const Token& token = event.value_of(arg);
  if (token.id >= 0) return triples_[static_cast<size_t>(token.id)];
  if (token.form != Form::Container) return {kNoInteger, kNoInteger, kNoInteger};
  const Triple found = parse_triple(token.text());
  const int32_t id =
      token.seen == nullptr ? -1 : triple_texts_.intern(token.text(), TextForm::Json);
  if (id >= 0) {
    if (static_cast<size_t>(id) == triples_.size()) triples_.push_back(found);
    token.seen->keep(triple_texts_.text(id), id, token.form);
  }
  return found;
}

int32_t Router::config(const Event& event, int32_t name) {
  ConfigKey key;
  key.grid = triple(event, Arg::Grid);
  key.block = triple(event, Arg::Block);
  key.registers = integer_or_null(event, Arg::Registers);
  key.smem = integer_or_null(event, Arg::Smem);
  key.real[0] = real_or_null(event, Arg::BlocksPerSm);
  key.real[1] = real_or_null(event, Arg::WarpsPerSm);
  key.real[2] = real_or_null(event, Arg::OccupancyPct);
  key.occupancy = arg_text(event, Arg::Occupancy);
  const auto [id, is_new] = config_keys_.intern(key, name);
  if (is_new) {
    ConfigTable& table = tables_.config;
    const size_t row = table.rows++;
    const int64_t integers[ConfigTable::kIntegers] = {
        key.grid[0],  key.grid[1],  key.grid[2],   key.block[0],
        key.block[1], key.block[2], key.registers, key.smem,
    };
    for (size_t i = 0; i < ConfigTable::kIntegers; ++i) {
      if (integers[i] != kNoInteger) table.integer[i].put(row, integers[i]);
    }
    F64Column* const reals[] = {&table.blocks_per_sm, &table.warps_per_sm, &table.occupancy_pct};
    for (size_t i = 0; i < 3; ++i) reals[i]->put(row, key.real[i]);
    put_id(table.occupancy, row, static_cast<int32_t>(key.occupancy));
  }
  if (id < 0) report_.add(Reason::TextCap, offset_);
  return id;
}

int32_t Router::collective(const Event& event, int32_t name) {
  CollectiveTable& table = tables_.collective;
  struct Integer {
    Arg arg;
    I64Column* column;
  };
  const Integer integers[] = {
      {Arg::InElements, &table.in_elements}, {Arg::OutElements, &table.out_elements},
      {Arg::GroupSize, &table.group_size},   {Arg::Rank, &table.rank},
      {Arg::RankStart, &table.rank_start},   {Arg::RankStride, &table.rank_stride},
      {Arg::SrcRank, &table.src_rank},       {Arg::DstRank, &table.dst_rank},
      {Arg::CollSeq, &table.call_seq},       {Arg::CommsId, &table.comms_id},
  };
  struct Text {
    Arg arg;
    TextColumn* column;
  };
  const Text texts[] = {
      {Arg::CollName, &table.name_id}, {Arg::CollDtype, &table.dtype},
      {Arg::InSplit, &table.in_split}, {Arg::OutSplit, &table.out_split},
      {Arg::PgName, &table.pg_name},   {Arg::PgDesc, &table.pg_desc},
      {Arg::PgId, &table.pg_id},       {Arg::PgRanks, &table.pg_ranks},
      {Arg::IsAsync, &table.is_async},
  };
  CollectiveKey key;
  static_assert(std::size(integers) == std::size(key.integer));
  static_assert(std::size(texts) == std::size(key.text));
  for (size_t i = 0; i < std::size(integers); ++i) {
    key.integer[i] = integer_or_null(event, integers[i].arg);
  }
  for (size_t i = 0; i < std::size(texts); ++i) key.text[i] = arg_text(event, texts[i].arg);
  const auto [id, is_new] = collective_keys_.intern(key, name);
  if (is_new) {
    const size_t row = table.rows++;
    for (size_t i = 0; i < std::size(integers); ++i) {
      if (key.integer[i] != kNoInteger) integers[i].column->put(row, key.integer[i]);
    }
    for (size_t i = 0; i < std::size(texts); ++i) {
      put_id(*texts[i].column, row, static_cast<int32_t>(key.text[i]));
    }
  }
  if (id < 0) report_.add(Reason::TextCap, offset_);
  return id;
}

int32_t Router::triton(const Event& event, int32_t name) {
  TritonKey key;
  constexpr Arg kTexts[] = {Arg::TritonBackend, Arg::TritonFile, Arg::TritonHash, Arg::TritonKwargs,
                            Arg::TritonKernel};
  for (size_t i = 0; i < 5; ++i) key.text[i] = arg_text(event, kTexts[i]);
  key.integer[0] = integer_or_null(event, Arg::NumWarps);
  key.integer[1] = integer_or_null(event, Arg::NumStages);
  const auto [id, is_new] = triton_keys_.intern(key, name);
  if (is_new) {
    TritonTable& table = tables_.triton;
    const size_t row = table.rows++;
    TextColumn* const texts[] = {&table.backend, &table.file, &table.hash, &table.kwargs,
                                 &table.kernel};
    for (size_t i = 0; i < 5; ++i) put_id(*texts[i], row, static_cast<int32_t>(key.text[i]));
    I64Column* const integers[] = {&table.num_warps, &table.num_stages};
    put_all(row, integers, key.integer);
  }
  if (id < 0) report_.add(Reason::TextCap, offset_);
  return id;
}

}  // namespace dctx::trace_event
