#include "scan/table.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>

#include "scan/parallel.hpp"

namespace dctx::scan {
namespace {

// Small enough to stay in the cache between the read and the decoding.
constexpr size_t kRunBytes = 256 * 1024;
// Unwanted pages between two leaves that are read along rather than by a second call.
constexpr uint32_t kMaxGap = 4;

unsigned thread_count(unsigned asked) {
  if (asked > 0) return asked;
  return std::clamp(std::thread::hardware_concurrency(), 1U, 16U);
}

size_t width(ColumnKind kind) { return kind == ColumnKind::I32 ? 4 : 8; }

// Decodes leaves [range.begin, range.end), reading runs of pages that lie close together.
class PartReader {
 public:
  PartReader(const PageFile& file, const RecordPlan& plan)
      : file_(file),
        decoder_(file, plan),
        run_(std::max<size_t>(kRunBytes, file.page_size()) + RecordDecoder::kSlack) {}

  // Row `base` of the table becomes row 0 of the columns.
  void read(const TableRows& rows, uint64_t base, Range range) {
    const std::vector<uint32_t>& pages = rows.leaves.pages;
    const std::vector<uint64_t>& first_row = rows.first_row;
    size_t i = range.begin;
    while (i < range.end) {
      const size_t end = run_end(pages, i, range.end);
      const uint32_t first = pages[i];
      const size_t bytes = size_t{pages[end - 1] - first + 1} * file_.page_size();
      if (!file_.read(file_.offset_of(first), run_.data(), bytes)) {
        damage_ = {first, 0, "the page cannot be read"};
        return;
      }
      for (; i < end; ++i) {
        const uint8_t* page = run_.data() + size_t{pages[i] - first} * file_.page_size();
        if (!decoder_.leaf(pages[i], page, first_row[i] - base, first_row[i + 1] - first_row[i])) {
          damage_ = decoder_.damage();
          return;
        }
      }
    }
  }

  RecordDecoder& decoder() { return decoder_; }
  const Damage& damage() const { return damage_; }

 private:
  size_t run_end(const std::vector<uint32_t>& pages, size_t begin, size_t end) const {
    const auto room =
        static_cast<uint32_t>((run_.size() - RecordDecoder::kSlack) / file_.page_size());
    size_t i = begin + 1;
    while (i < end && pages[i] > pages[i - 1] && pages[i] - pages[i - 1] <= kMaxGap &&
           pages[i] - pages[begin] < room) {
      ++i;
    }
    return i;
  }

  const PageFile& file_;
  RecordDecoder decoder_;
  std::vector<uint8_t> run_;
  Damage damage_;
};

RecordPlan make_plan(const TableDef& table, const std::vector<AskedColumn>& asked,
                     std::vector<std::shared_ptr<Buffer>>& buffers) {
  RecordPlan plan;
  plan.slots = static_cast<uint32_t>(asked.size());
  for (uint32_t slot = 0; slot < plan.slots; ++slot) {
    const AskedColumn& column = asked[slot];
    const int index = table.find(column.name);
    if (index < 0) throw std::out_of_range(column.name);
    const ColumnDef& def = table.columns[static_cast<size_t>(index)];
    void* out = buffers[slot] ? buffers[slot]->data() : nullptr;
    if (def.is_rowid_alias) {
      plan.rowids.push_back({column.kind, slot, out});
      continue;
    }
    if (plan.fields.size() <= static_cast<size_t>(index)) {
      plan.fields.resize(static_cast<size_t>(index) + 1);
    }
    Field& field = plan.fields[static_cast<size_t>(index)];
    if (field.wanted) throw std::invalid_argument("column " + column.name + " is asked for twice");
    field.wanted = true;
    field.kind = column.kind;
    field.slot = slot;
    field.out = out;
    field.null_integer =
        column.null.value_or(column.kind == ColumnKind::I32 ? std::numeric_limits<int32_t>::min()
                                                            : std::numeric_limits<int64_t>::min());
    field.null_real =
        column.null ? static_cast<double>(*column.null) : std::numeric_limits<double>::quiet_NaN();
    field.default_value = def.default_value;
  }
  return plan;
}

// The texts of all parts in order, each part freed once copied.
std::shared_ptr<const TextData> join(std::vector<TextData*> parts) {
  auto all = std::make_shared<TextData>(std::move(*parts.front()));
  size_t rows = all->size();
  size_t bytes = all->bytes.size();
  bool nulls = !all->valid.empty();
  for (size_t i = 1; i < parts.size(); ++i) {
    rows += parts[i]->size();
    bytes += parts[i]->bytes.size();
    nulls = nulls || !parts[i]->valid.empty();
  }
  if (nulls && all->valid.empty()) all->valid.assign(all->size(), 1);
  all->offsets.reserve(rows + 1);
  all->bytes.reserve(bytes);
  if (nulls) all->valid.reserve(rows);
  for (size_t i = 1; i < parts.size(); ++i) {
    const TextData part = std::exchange(*parts[i], TextData());
    const auto base = static_cast<int64_t>(all->bytes.size());
    for (size_t row = 1; row < part.offsets.size(); ++row) {
      all->offsets.push_back(base + part.offsets[row]);
    }
    all->bytes.insert(all->bytes.end(), part.bytes.begin(), part.bytes.end());
    if (part.valid.empty()) {
      all->valid.resize(nulls ? all->size() : 0, 1);
    } else {
      all->valid.insert(all->valid.end(), part.valid.begin(), part.valid.end());
    }
  }
  return all;
}

void check_readable(const TableDef& table) {
  if (!table.unreadable.empty()) {
    throw std::invalid_argument("table " + table.name +
                                " cannot be read page by page: " + table.unreadable);
  }
}

}  // namespace

TableRows locate_rows(const PageFile& file, const TableDef& table, unsigned threads) {
  check_readable(table);
  TableRows rows{list_leaves(file, table.root_page), {}};
  rows.first_row = count_rows(file, rows.leaves, thread_count(threads));
  return rows;
}

TableData read_table(const PageFile& file, const TableDef& table, const TableRows& rows,
                     const std::vector<AskedColumn>& asked, Share share, unsigned threads,
                     bool salvage) {
  const size_t leaves = rows.leaves.pages.size();
  const size_t first_leaf = leaves * share.index / share.count;
  const size_t last_leaf = leaves * (share.index + 1) / share.count;
  const uint64_t base = rows.first_row[first_leaf];
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (const AskedColumn& column : asked) {
    const size_t bytes = (rows.first_row[last_leaf] - base) * width(column.kind);
    buffers.push_back(holds_text(column.kind) ? nullptr : std::make_shared<Buffer>(bytes));
  }
  const RecordPlan plan = make_plan(table, asked, buffers);
  const std::vector<Range> ranges = split(last_leaf - first_leaf, thread_count(threads));
  std::vector<std::unique_ptr<PartReader>> parts(ranges.size());
  run_parallel(ranges, [&](size_t i, Range range) {
    parts[i] = std::make_unique<PartReader>(file, plan);
    parts[i]->read(rows, base, {first_leaf + range.begin, first_leaf + range.end});
  });

  TableData out;
  if (share.index + 1 == share.count) out.damage = rows.leaves.damage;
  size_t used = 0;
  for (const auto& part : parts) {
    ++used;
    out.rows += part->decoder().rows_done();
    out.converted += part->decoder().converted();
    if (part->damage()) {
      out.damage = part->damage();
      break;
    }
  }
  if (out.damage && !salvage) throw Corrupt(table.name, out.damage, base + out.rows);
  for (size_t slot = 0; slot < asked.size(); ++slot) {
    ReadColumn column{asked[slot].name, asked[slot].kind, buffers[slot], nullptr, 0};
    std::vector<TextData*> texts;
    for (size_t i = 0; i < used; ++i) {
      column.null_count += parts[i]->decoder().null_counts()[slot];
      texts.push_back(&parts[i]->decoder().texts()[slot]);
    }
    if (holds_text(column.kind)) column.texts = join(std::move(texts));
    out.columns.push_back(std::move(column));
  }
  return out;
}

uint64_t count_table_rows(const TableDef& table, const TableRows& rows, bool salvage) {
  const uint64_t count = rows.first_row.back();
  if (rows.leaves.damage && !salvage) throw Corrupt(table.name, rows.leaves.damage, count);
  return count;
}

std::vector<TableDef> read_schema(const PageFile& file, bool salvage) {
  TableDef schema;
  schema.name = "sqlite_schema";
  schema.root_page = 1;
  for (const char* name : {"type", "name", "tbl_name", "rootpage", "sql"}) {
    schema.columns.push_back({name, "", false, {}});
  }
  const TableData rows = read_table(file, schema, locate_rows(file, schema, 1),
                                    {{"type", ColumnKind::Text, std::nullopt},
                                     {"name", ColumnKind::Text, std::nullopt},
                                     {"rootpage", ColumnKind::I64, 0},
                                     {"sql", ColumnKind::Text, std::nullopt}},
                                    Share(), 1, salvage);
  const TextData& types = *rows.columns[0].texts;
  const TextData& names = *rows.columns[1].texts;
  const auto* roots = static_cast<const int64_t*>(rows.columns[2].values->data());
  const TextData& statements = *rows.columns[3].texts;
  std::vector<TableDef> tables;
  for (size_t i = 0; i < rows.rows; ++i) {
    if (types[i] != "table") continue;
    TableDef table;
    table.name = names[i];
    table.sql = statements[i];
    parse_create_table(table.sql, table);
    if (roots[i] > 0 && roots[i] <= std::numeric_limits<uint32_t>::max()) {
      table.root_page = static_cast<uint32_t>(roots[i]);
    } else if (table.unreadable.empty()) {
      table.unreadable = "it has no pages of its own";
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace dctx::scan
