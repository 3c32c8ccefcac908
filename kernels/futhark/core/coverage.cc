#include "kernels/futhark/core/coverage.h"

#include <algorithm>
#include <set>

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

/// One pattern for each column, written out. The order is that of a row: the next one last.
using Witness = std::vector<std::string>;

class Coverage {
 public:
  /// True if every sequence of `columns` values fits some row. If not, `witness` becomes one that
  /// fits none.
  bool covered(std::vector<Row> rows, size_t columns, Witness& witness) {
    const size_t all = columns;
    for (;;) {
      work_ += rows.size() + 1;
      if (rows.empty() || gave_up()) {
        witness.assign(all, "_");
        return false;
      }
      if (columns == 0) return true;
      const auto refutable =
          std::find_if(rows.begin(), rows.end(), [](const Row& r) { return !fits_all(r.back()); });
      if (refutable != rows.end()) {
        const bool yes = split(rows, columns, *refutable->back(), witness);
        witness.resize(all, "_");
        return yes;
      }
      for (Row& r : rows) r.pop_back();
      columns--;
    }
  }

  bool gave_up() const { return work_ > kMaxWork; }

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

  bool split(const std::vector<Row>& rows, size_t columns, const Pat& by, Witness& witness) {
    if (const auto* record = std::get_if<PRecord>(&by.node)) {
      return with_record(rows, columns, *record, witness);
    }
    if (const auto* literal = std::get_if<PLit>(&by.node)) {
      if (literal->value.type != PrimType::kBool) {
        return covered_by_rest(rows, columns, unused_literal(rows, literal->value), witness);
      }
      return with_bool(rows, columns, true, witness) && with_bool(rows, columns, false, witness);
    }
    const auto* sum = std::get_if<TSum>(&by.type->node);
    if (sum == nullptr) return covered_by_rest(rows, columns, "_", witness);
    return std::all_of(sum->constructors.begin(), sum->constructors.end(), [&](const auto& c) {
      return with_constructor(rows, columns, c.first, c.second.size(), witness);
    });
  }

  /// The last `count` patterns of the witness, taken away from it.
  static Witness take(Witness& witness, size_t count) {
    const auto from = witness.end() - static_cast<std::ptrdiff_t>(count);
    Witness out(from, witness.end());
    witness.erase(from, witness.end());
    return out;
  }

  bool with_record(const std::vector<Row>& rows, size_t columns, const PRecord& record,
                   Witness& witness) {
    const size_t parts = record.fields.size();
    const auto push = [](const Pat& p, Row& row) {
      for (const auto& f : std::get<PRecord>(p.node).fields) row.push_back(f.second.get());
      return true;
    };
    if (covered(select(rows, parts, push), columns - 1 + parts, witness)) return true;
    const Witness values = take(witness, parts);
    bool tuple = parts != 1;
    for (size_t i = 0; i < parts; i++) tuple = tuple && record.fields[i].first == std::to_string(i);
    std::string text;
    for (size_t i = 0; i < parts; i++) {
      text += (i > 0 ? ", " : "") + (tuple ? "" : record.fields[i].first + " = ") + values[i];
    }
    witness.push_back(tuple ? "(" + text + ")" : "{" + text + "}");
    return false;
  }

  bool with_constructor(const std::vector<Row>& rows, size_t columns, const std::string& name,
                        size_t parts, Witness& witness) {
    const auto push = [&](const Pat& p, Row& row) {
      const auto& c = std::get<PConstr>(p.node);
      if (c.name != name || c.args.size() != parts) return false;
      for (const auto& a : c.args) row.push_back(a.get());
      return true;
    };
    if (covered(select(rows, parts, push), columns - 1 + parts, witness)) return true;
    std::string text = "#" + name;
    for (const std::string& v : take(witness, parts)) {
      const bool parens = v[0] == '#' && v.find(' ') != std::string::npos;
      text += parens ? " (" + v + ")" : " " + v;
    }
    witness.push_back(std::move(text));
    return false;
  }

  bool with_bool(const std::vector<Row>& rows, size_t columns, bool value, Witness& witness) {
    const auto same = [&](const Pat& p, Row&) {
      return std::get<PLit>(p.node).value == PrimValue::of_bool(value);
    };
    if (covered(select(rows, 0, same), columns - 1, witness)) return true;
    witness.push_back(value ? "true" : "false");
    return false;
  }

  /// Values that no pattern of the column names; `example` is one of them.
  bool covered_by_rest(const std::vector<Row>& rows, size_t columns, std::string example,
                       Witness& witness) {
    if (covered(select(rows, 0, [](const Pat&, Row&) { return false; }), columns - 1, witness)) {
      return true;
    }
    witness.push_back(std::move(example));
    return false;
  }

  /// The least natural number that no pattern of the last column is; "_" if they are no integers.
  static std::string unused_literal(const std::vector<Row>& rows, const PrimValue& like) {
    if (!is_integer(like.type)) return "_";
    std::set<uint64_t> used;
    for (const Row& r : rows) {
      const auto* l = r.back() ? std::get_if<PLit>(&r.back()->node) : nullptr;
      if (l) used.insert(l->value.bits);
    }
    uint64_t number = 0;
    while (used.count(number) > 0) number++;
    return std::to_string(number);
  }

  size_t work_ = 0;  // patterns looked at: has a limit, as the number of splits can be exponential
};

}  // namespace

Covered coverage(const std::vector<const Pat*>& cases) {
  if (std::any_of(cases.begin(), cases.end(), [](const Pat* p) { return irrefutable(*p); })) {
    return {Covered::kAll, ""};
  }
  std::vector<Row> rows;
  for (const Pat* p : cases) rows.push_back({p});
  Coverage proof;
  Witness witness;
  if (proof.covered(std::move(rows), 1, witness)) return {Covered::kAll, ""};
  if (proof.gave_up()) return {Covered::kUnknown, ""};
  return {Covered::kNotAll, witness[0]};
}

}  // namespace kenaz::core
