#include "kernels/gpu/rows.h"

#include <algorithm>

#include "kernels/gpu/launch.h"
#include "kernels/primitives/blocks/bits.h"

namespace kenaz::gpu {

using body::Thread;
using kir::Value;
using kir::Values;

namespace {

constexpr int kWordBytes = 8;
constexpr int kMostWords = 32;        // of a thread, loaded and stored: its code repeats them
constexpr int kMostRows = 16;         // as many as make what a workgroup costs besides small
constexpr int kMostStatements = 128;  // of all elements of a thread together

/// Whether a driver makes a few instructions of it. What it makes more of takes long to compile
/// when it is repeated, and longer to run than the loads and stores that rows spare.
bool is_short(const ir::Stm& s) {
  const auto* prim = std::get_if<ir::EPrim>(&s.exp);
  if (prim == nullptr) return false;
  switch (prim->op) {
    case ScalarOp::kDiv:
    case ScalarOp::kMod:
    case ScalarOp::kQuot:
    case ScalarOp::kRem:
    case ScalarOp::kPow:
    case ScalarOp::kFma:
    case ScalarOp::kNextafter:
    case ScalarOp::kLdexp: return false;
    default: return prim->op < ScalarOp::kSqrt || prim->op > ScalarOp::kErfc;
  }
}

Value number_of_bits(int n) { return PrimValue{PrimType::kU64, static_cast<uint64_t>(n)}; }

/// The scalars in a word, the first one lowest.
void split_word(kir::Builder& k, const Value& word, PrimType type, Values& out) {
  const int size = prim_size(type);
  for (int at = 0; at < kWordBytes; at += size) {
    const Value part = k.lshr(word, number_of_bits(8 * at));
    const Value narrow = size == kWordBytes ? part : k.convert(part, PrimType::kU32);
    out.push_back(primitives::blocks::from_bits(
        k, type == PrimType::kBool ? k.and_(narrow, kir::Builder::same_type(narrow, 1)) : narrow,
        type));
  }
}

/// .. and back.
Value join_word(kir::Builder& k, const Value* first, PrimType type) {
  const int size = prim_size(type);
  Value word = number_of_bits(0);
  for (int at = 0; at < kWordBytes; at += size) {
    const Value part = k.convert(primitives::blocks::bits_of(k, *first++), PrimType::kU64);
    word = k.or_(word, k.shl(part, number_of_bits(8 * at)));
  }
  return word;
}

}  // namespace

struct Rows::Code {
  Thread& t;
  const SegParts& parts;
  kir::FunctionId point;
  Value group, lane, width;  // i64

  kir::Builder& k() { return t.k; }
};

Rows::Rows(HostGen& host, const ir::ESeg& e, const Neighbours& neighbours)
    : host_(host), e_(e), neighbours_(neighbours), lanes_(host.target().subgroup_size) {
  if (!host.target().reads_ahead || !neighbours.is_possible()) return;
  const std::vector<ir::Stm>& rest = neighbours.rest().body.stms;
  if (!std::all_of(rest.begin(), rest.end(), is_short)) return;
  int smallest = kWordBytes, words_of_row = 0;
  const auto look = [&](PrimType t) { smallest = std::min(smallest, prim_size(t)); };
  for (const ir::Stm& s : neighbours.loads()) look(type_of(s));
  for (const ir::Atom& r : e.body.results) look(host.ir().type_of(r).prim);
  each_ = kWordBytes / smallest;
  for (const ir::Stm& s : neighbours.loads()) words_of_row += words(type_of(s));
  for (const ir::Atom& r : e.body.results) words_of_row += words(host.ir().type_of(r).prim);
  const int statements = each_ * static_cast<int>(rest.size() + 1);
  count_ = std::min({kMostRows, kMostWords / words_of_row, kMostStatements / statements});
  tile_ = int64_t{count_} * lanes_ * each_;
}

int Rows::words(PrimType t) const { return each_ * prim_size(t) / kWordBytes; }

PrimType Rows::type_of(const ir::Stm& load) const { return host_.ir().type_of(load.pat[0]).prim; }

/// The threads' elements of each array that is read side by side, row after row.
std::vector<Values> Rows::load_all(Code& code, const Value& group) const {
  kir::Builder& k = code.k();
  std::vector<Values> out;
  for (const ir::Stm& s : neighbours_.loads()) {
    const PrimType type = type_of(s);
    const Value base = code.t.env.array(std::get<ir::EIndex>(s.exp).array).base;
    const int words = this->words(type);
    const Value first = k.mul(group, int64_t{count_} * lanes_ * words);
    Values& elements = out.emplace_back();
    for (int row = 0; row < count_; row++) {
      for (int w = 0; w < words; w++) {
        Value mine;
        for (int lane = 0; lane < lanes_; lane++) {
          const int at = (row * lanes_ + lane) * words + w;
          const Value word = k.load(PrimType::kU64, base, k.add(first, at));
          mine = lane == 0 ? word : k.select(k.eq(k.lane(), lane), word, mine);
        }
        split_word(k, mine, type, elements);
      }
    }
  }
  return out;
}

/// The results of the point (i64) for which the loads have given these values.
kir::FunctionId Rows::point(Thread& t) const {
  std::vector<kir::Type> params = {{PrimType::kI64}};
  for (const ir::Stm& s : neighbours_.loads()) params.push_back({type_of(s)});
  const ir::ESeg& rest = neighbours_.rest();
  return body::function(t, "point", params, [&](const Values& args) {
    t.env.bind_param(rest.space.dims[0].index, args[0]);
    for (size_t l = 0; l < neighbours_.loads().size(); l++) {
      t.env.bind(neighbours_.loads()[l].pat[0], args[l + 1]);
    }
    t.env.forget(rest.body);
    Values out;
    for (const auto& r : body::translate(t, rest.body)) out.push_back(std::get<Value>(r));
    return out;
  });
}

void Rows::store_all(Code& code, const std::vector<Values>& loaded) const {
  kir::Builder& k = code.k();
  const auto each = static_cast<size_t>(each_);
  const Value first = k.add(k.mul(code.group, tile_), k.mul(code.lane, each_));
  for (int row = 0; row < count_; row++) {
    std::vector<Values> results(e_.body.results.size());
    for (size_t j = 0; j < each; j++) {
      const size_t n = static_cast<size_t>(row) * each + j;
      Values args = {k.add(first, int64_t{row} * lanes_ * each_ + static_cast<int64_t>(j))};
      for (const Values& array : loaded) args.push_back(array[n]);
      const Values made = k.call(code.point, std::move(args));
      for (size_t r = 0; r < results.size(); r++) results[r].push_back(made[r]);
    }
    for (size_t r = 0; r < results.size(); r++) {
      const PrimType type = results[r][0].type.prim;
      const int words = this->words(type);
      const Value base = code.t.args.block(code.parts.stored[r].block);
      const Value at = k.add(k.mul(code.group, int64_t{count_} * lanes_ * words),
                             k.add(k.mul(code.lane, words), int64_t{row} * lanes_ * words));
      for (int w = 0; w < words; w++) {
        const size_t from = static_cast<size_t>(w * kWordBytes / prim_size(type));
        k.store(base, k.add(at, w), join_word(k, &results[r][from], type));
      }
    }
  }
}

void Rows::launch(ir::ProvId prov, const SegParts& parts, const Operand& width) const {
  Thread t(host_, host_.kernel_name("map"), prov);
  kir::Builder& k = t.k;
  const auto elem = point_function(host_, t, e_, {1}, parts);
  Code code{t, parts, point(t), k.group(), k.to_i64(k.lane()), t.args.operand(width)};
  if (host_.failed()) return;
  t.kernel.reads_ahead = true;
  const Value from = k.mul(code.group, tile_), to = k.add(from, tile_);
  const Value whole = k.le(to, code.width);
  // The last workgroup, which has less than a tile, and those behind it load the first tile.
  const auto loaded = load_all(code, k.select(whole, code.group, kir::i64(0)));
  k.if_(
      whole, [&] { store_all(code, loaded); },
      [&] {
        k.for_(k.add(from, code.lane), code.width, kir::i64(lanes_),
               [&](const Value& i) { k.call(elem, {i}); });
      });
  t.kernel.group_size = {lanes_};
  const Operand reach = host_.add(width, PrimValue::i64(tile_ - 1));
  launch_kernel(host_, t, t.kernel, lanes_,
                host_.emit_op(ScalarOp::kQuot, PrimType::kI64, PrimType::kI64,
                              {reach, PrimValue::i64(tile_)}));
}

}  // namespace kenaz::gpu
