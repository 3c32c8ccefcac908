#include "kernels/futhark/core/coverage.h"

#include <algorithm>

namespace kenaz::core {
namespace {

/// Patterns for a sequence of values, the next one last. Null fits everything.
using Row = std::vector<const Pat*>;

bool fits_all(const Pat* p) {
  return p == nullptr || std::holds_alternative<PBind>(p->node) ||
         std::holds_alternative<PWildcard>(p->node);
}

/// Whether there are only names, wildcards and records of these: nearly all patterns but cases.
bool irrefutable(const Pat& p) {
  const auto* record = std::get_if<PRecord>(&p.node);
  if (record == nullptr) return fits_all(&p);
  return std::all_of(record->fields.begin(), record->fields.end(),
                     [](const auto& f) { return irrefutable(*f.second); });
}

void push_wildcards(Row& row, size_t count) { row.insert(row.end(), count, nullptr); }

class Coverage {
 public:
  /// True if every sequence of `columns` values fits some row.
  bool covered(std::vector<Row> rows, size_t columns) {
    for (;;) {
      work_ += rows.size() + 1;
      if (rows.empty() || work_ > kMaxWork) return false;
      if (columns == 0) return true;
      const auto refutable =
          std::find_if(rows.begin(), rows.end(), [](const Row& r) { return !fits_all(r.back()); });
      if (refutable != rows.end()) return split(rows, columns, *refutable->back());
      for (Row& r : rows) r.pop_back();
      columns--;
    }
  }

 private:
  static constexpr size_t kMaxWork = 1000000;

  /// The rows that fit values for which `fields` replaces the last pattern of a row: it pushes the
  /// patterns of the parts and returns true, or false if such values do not fit. What fits
  /// everything has `parts` parts that do so, too.
  template <class Fields>
  std::vector<Row> select(const std::vector<Row>& rows, size_t parts, Fields fields) {
    std::vector<Row> out;
    if (!rows.empty()) work_ += rows.size() * rows[0].size();
    for (Row row : rows) {
      const Pat* p = row.back();
      row.pop_back();
      if (fits_all(p)) {
        push_wildcards(row, parts);
      } else if (!fields(*p, row)) {
        continue;
      }
      out.push_back(std::move(row));
    }
    return out;
  }

  bool split(const std::vector<Row>& rows, size_t columns, const Pat& by) {
    if (const auto* record = std::get_if<PRecord>(&by.node)) {
      const size_t parts = record->fields.size();
      return covered(select(rows, parts,
                            [](const Pat& p, Row& row) {
                              for (const auto& f : std::get<PRecord>(p.node).fields) {
                                row.push_back(f.second.get());
                              }
                              return true;
                            }),
                     columns - 1 + parts);
    }
    if (const auto* literal = std::get_if<PLit>(&by.node)) {
      if (literal->value.type != PrimType::kBool) return covered_by_rest(rows, columns);
      return with_bool(rows, columns, true) && with_bool(rows, columns, false);
    }
    const auto* sum = std::get_if<TSum>(&by.type->node);
    if (sum == nullptr) return covered_by_rest(rows, columns);
    return std::all_of(sum->constructors.begin(), sum->constructors.end(), [&](const auto& c) {
      return with_constructor(rows, columns, c.first, c.second.size());
    });
  }

  bool with_constructor(const std::vector<Row>& rows, size_t columns, const std::string& name,
                        size_t parts) {
    return covered(select(rows, parts,
                          [&](const Pat& p, Row& row) {
                            const auto& c = std::get<PConstr>(p.node);
                            if (c.name != name || c.args.size() != parts) return false;
                            for (const auto& a : c.args) row.push_back(a.get());
                            return true;
                          }),
                   columns - 1 + parts);
  }

  bool with_bool(const std::vector<Row>& rows, size_t columns, bool value) {
    return covered(select(rows, 0,
                          [&](const Pat& p, Row&) {
                            return std::get<PLit>(p.node).value == PrimValue::of_bool(value);
                          }),
                   columns - 1);
  }

  /// Values that no pattern of the column names.
  bool covered_by_rest(const std::vector<Row>& rows, size_t columns) {
    return covered(select(rows, 0, [](const Pat&, Row&) { return false; }), columns - 1);
  }

  size_t work_ = 0;  // patterns looked at: has a limit, as the number of splits can be exponential
};

}  // namespace

bool covers_all(const std::vector<const Pat*>& cases) {
  if (std::any_of(cases.begin(), cases.end(), [](const Pat* p) { return irrefutable(*p); })) {
    return true;
  }
  std::vector<Row> rows;
  for (const Pat* p : cases) rows.push_back({p});
  return Coverage().covered(std::move(rows), 1);
}

}  // namespace kenaz::core
