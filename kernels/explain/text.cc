#include "kernels/explain/text.h"

#include <fmt/format.h>

#include "kernels/explain/words.h"

namespace kenaz::explain {
namespace {

using plan::HostExpr;

struct Infix {
  std::string_view sign;  // empty: the operation is written as a function
  int binds = 4;          // the more, the tighter
};

Infix infix(ScalarOp op) {
  switch (op) {
    case ScalarOp::kOr: return {"or", 0};
    case ScalarOp::kAnd: return {"and", 1};
    case ScalarOp::kLe: return {"<=", 2};
    case ScalarOp::kLt: return {"<", 2};
    case ScalarOp::kAdd: return {"+", 3};
    case ScalarOp::kSub: return {"-", 3};
    case ScalarOp::kMul: return {"*", 4};
    case ScalarOp::kQuot: return {"/", 4};
    default: return {};
  }
}

/// With numbers for constants of specialisation, as far as it folds.
HostExpr for_group_size(const HostExpr& e, int group_size) {
  if (e.leaf() == HostExpr::Leaf::kSpec) return group_size;
  if (e.leaf() != HostExpr::Leaf::kNone) return e;
  std::vector<HostExpr> args;
  for (const HostExpr& a : e.args()) args.push_back(for_group_size(a, group_size));
  if (e.operation() == ScalarOp::kAnd) return and_(args[0], args[1]);
  if (e.operation() == ScalarOp::kOr) return or_(args[0], args[1]);
  return HostExpr::op(e.operation(), std::move(args));
}

std::string leaf_text(const HostExpr& e) {
  if (e.is_true()) return "always";
  if (e.is_false()) return "never";
  if (e.leaf() == HostExpr::Leaf::kConstant) return std::to_string(e.constant().as_i64());
  constexpr std::string_view kNames[] = {"segments", "length", "bins",    "rows",
                                         "columns",  "rows",   "columns", "between"};
  const auto n = static_cast<size_t>(e.number());
  return n < std::size(kNames) ? std::string(kNames[n]) : fmt::format("size {}", n);
}

/// In parentheses where what is around binds tighter.
std::string expr_text(const HostExpr& e, int around) {
  if (e.leaf() != HostExpr::Leaf::kNone) return leaf_text(e);
  const Infix between = infix(e.operation());
  const auto args = e.args();
  if (between.sign.empty() || args.size() != 2) {
    std::string text;
    for (const HostExpr& a : args) text += (text.empty() ? "" : ", ") + expr_text(a, -1);
    return fmt::format("{}({})", scalar_op_name(e.operation()), text);
  }
  const std::string text = fmt::format("{} {} {}", expr_text(args[0], between.binds), between.sign,
                                       expr_text(args[1], between.binds));
  return between.binds < around ? "(" + text + ")" : text;
}

/// How many bytes the first `characters` characters have.
size_t bytes_of(std::string_view text, int characters) {
  size_t at = 0;
  for (; characters > 0 && at < text.size(); characters--) {
    do at++;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  }
  return at;
}

/// The program's text in the range; of several lines the first, of a long one the beginning.
std::string quote(const SourceRange& r) {
  if (!r.file || r.begin.line < 1) return {};
  std::string_view rest = r.file->text;
  for (int line = 1; line < r.begin.line; line++) {
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos) return {};
    rest.remove_prefix(end + 1);
  }
  std::string_view line = rest.substr(0, rest.find('\n'));
  if (r.end.line == r.begin.line) line = line.substr(0, bytes_of(line, r.end.column - 1));
  line.remove_prefix(bytes_of(line, r.begin.column - 1));
  std::string text(line);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  constexpr size_t kLongest = 72;
  const bool all = text.size() <= kLongest && r.end.line == r.begin.line;
  return all ? text : text.substr(0, bytes_of(text, kLongest)) + " ...";
}

std::string bytes_text(const Bytes& bytes) {
  if (bytes.empty()) return "nothing";
  std::string out;
  for (const Size& s : bytes) out += (out.empty() ? "" : " + ") + size_text(s);
  return out + " B";
}

class Text {
 public:
  void entry(const EntryReport& e) {
    out_ += fmt::format("{}{}\n", e.name == "constants" ? "" : "entry ", e.name);
    if (e.operations.empty()) out_ += "  nothing for the device\n";
    for (const Operation& o : e.operations) operation(o);
  }
  void refused(const Refused& r) {
    out_ += fmt::format("one version only: {}  {}\n", r.place.str(), sentence(r.why));
  }
  void no_groups(const NoGroups& r) {
    out_ += fmt::format("no version for workgroups: {}  {}\n", r.place.str(), sentence(r.why));
  }
  std::string take() { return std::move(out_); }

 private:
  void row(const char* label, std::string_view what) {
    out_ += fmt::format("    {:<10}{}\n", label, what);
  }
  void operation(const Operation& o) {
    std::string space;
    for (const Size& s : o.space) space += (space.empty() ? " over " : " x ") + size_text(s);
    out_ += fmt::format("  {}{}  {}\n", sentence(o.kind), space, o.place.str());
    if (const std::string text = quote(o.place); !text.empty()) out_ += "      " + text + "\n";
    const char* label = "version";
    for (const InVersion& v : o.versions) {
      row(label, version(v));
      label = "";
    }
    plans(o);
    if (o.kind == Kind::kOneThread) {
      if (o.one_thread) row("because", sentence(*o.one_thread));
    } else if (o.why_one) {
      row("width", fmt::format("1: {}", sentence(*o.why_one)));
    } else {
      row("width", std::to_string(o.width));
    }
    row("traffic", fmt::format("reads {}, writes {} {}", bytes_text(o.reads), bytes_text(o.writes),
                               o.kind == Kind::kOneThread ? "in all" : "per element"));
    for (const SourceRange& r : o.fused) row("fused", r.str() + "  " + quote(r));
    for (const Inside& i : o.inside) {
      row("in thread", fmt::format("{}  {}", i.place.str(),
                                   i.why ? sentence(*i.why) : "this version leaves it there"));
    }
  }
  static std::string version(const InVersion& v) {
    std::string text = v.name.empty() ? "another" : v.name;
    if (!v.size) return text;
    return text +
           fmt::format(", where {} {} {}", v.param, v.holds ? "<=" : ">", size_text(*v.size));
  }
  void plans(const Operation& o) {
    const char* label = "plan";
    for (const PlanChoice& p : o.plans) {
      const bool always = p.when.is_true();
      row(label, always ? p.name + (o.plans.size() > 1 ? ", else" : "")
                        : fmt::format("{}, if {}", p.name, condition_text(p.when, o.group_size)));
      label = "";
    }
  }

  std::string out_;
};

}  // namespace

std::string size_text(const Size& size) {
  if (size.names.empty()) return std::to_string(size.factor);
  const std::string names = fmt::format("{}", fmt::join(size.names, "*"));
  return size.factor == 1 ? names : fmt::format("{}*{}", size.factor, names);
}

std::string condition_text(const HostExpr& e, int group_size) {
  return expr_text(for_group_size(e, group_size), -1);
}

std::string text(const Report& report) {
  Text t;
  std::string head = report.device.empty() ? "" : fmt::format("On {}:\n", report.device);
  for (const EntryReport& e : report.entries) {
    if (e.name != "constants" || !e.operations.empty()) t.entry(e);
  }
  for (const Refused& r : report.refused) t.refused(r);
  for (const NoGroups& r : report.no_groups) t.no_groups(r);
  return head + t.take();
}

}  // namespace kenaz::explain
