#include "server/workers/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "kernels/program/serialise.h"
#include "protocol/base/utf8.h"

namespace kenaz {
namespace {

constexpr size_t kMostLeaves = 10'000;
constexpr int kMostNesting = 100, kMostRank = 255;

tl::unexpected<Error> bad(const char* what) {
  return internal_error(fmt::format("a program's description does not fit together: {}", what));
}

/// As a line of a reply.
bool is_line(std::string_view text) {
  return is_utf8(text) &&
         std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < ' '; });
}

/// As a word of a command. The longest names of types are those of large records.
bool is_word(std::string_view text) {
  return !text.empty() && is_line(text) && text.find('"') == std::string_view::npos;
}

bool same_data(const LeafType& a, const LeafType& b) {
  return a.prim == b.prim && a.rank == b.rank && (a.dim < 0) == (b.dim < 0);
}

/// That each type consists of what it is said to, in the end of scalars and arrays.
class TypeChecks {
 public:
  explicit TypeChecks(const TypeTable& types) : types_(types) {}

  Status all() {
    for (int i = 0; i < kPrimTypeCount; ++i) {
      const auto it = types_.find(std::string(prim_name(static_cast<PrimType>(i))));
      if (it == types_.end() || it->second.kind != TypeKind::kPrimitive) return bad("primitives");
    }
    for (const auto& [name, type] : types_) {
      if (name != type.name || !is_word(name)) return bad("a type's name");
      KENAZ_TRY(visit(name));
    }
    return {};
  }

 private:
  /// The type's leaves, after it and all that it consists of were found good.
  Result<const std::vector<LeafType>*> visit(const std::string& name) {
    const auto it = types_.find(name);
    if (it == types_.end()) return bad("a type that there is not");
    if (done_.contains(name)) return &it->second.leaves;
    if (!open_.insert(name).second || open_.size() > kMostNesting) return bad("types in types");
    KENAZ_TRY(check(it->second));
    open_.erase(name);
    done_.insert(name);
    return &it->second.leaves;
  }

  Status check(const ValueType& type) {
    if (type.leaves.size() > kMostLeaves) return bad("a type's size");
    for (const auto& leaf : type.leaves) {
      if (leaf.rank < 0 || leaf.rank > kMostRank || leaf.dim < -1 || leaf.dim > kMostRank) {
        return bad("a rank");
      }
    }
    switch (type.kind) {
      case TypeKind::kPrimitive: return check_primitive(type);
      case TypeKind::kArray: return check_array(type);
      case TypeKind::kRecord: return check_fields(type);
      case TypeKind::kSum: return check_sum(type);
      case TypeKind::kOpaque: return {};
    }
    return bad("a kind");
  }

  static Status check_primitive(const ValueType& type) {
    const bool good = type.leaves.size() == 1 && type.leaves[0].rank == 0 &&
                      type.leaves[0].dim < 0 && prim_name(type.leaves[0].prim) == type.name;
    return good ? Status() : bad("a primitive type");
  }

  Status check_array(const ValueType& type) {
    KENAZ_ASSIGN(const auto* element, visit(type.elemtype));
    if (type.rank < 1 || type.rank > kMostRank) return bad("an array's rank");
    // Of elements without data the array's leaves are its sizes.
    if (element->empty()) {
      const auto is_size = [](const LeafType& leaf) {
        return leaf.prim == PrimType::kI64 && leaf.rank == 0 && leaf.dim >= 0;
      };
      const bool good = type.leaves.size() == static_cast<size_t>(type.rank) &&
                        std::all_of(type.leaves.begin(), type.leaves.end(), is_size);
      if (!good) return bad("an array's sizes");
    } else if (std::none_of(element->begin(), element->end(),
                            [](const LeafType& leaf) { return leaf.dim >= 0; })) {
      const auto fits = [&](const LeafType& leaf, const LeafType& part) {
        return leaf.prim == part.prim && leaf.rank == part.rank + type.rank && leaf.dim < 0;
      };
      if (!std::equal(type.leaves.begin(), type.leaves.end(), element->begin(), element->end(),
                      fits)) {
        return bad("an array's elements");
      }
    }
    return type.fields.empty() ? Status() : check_fields(type);
  }

  Status check_fields(const ValueType& type) {
    std::vector<LeafType> leaves;
    for (const auto& field : type.fields) {
      if (!is_word(field.name)) return bad("a field's name");
      KENAZ_ASSIGN(const auto* part, visit(field.type));
      leaves.insert(leaves.end(), part->begin(), part->end());
      if (leaves.size() > kMostLeaves) return bad("a type's size");
    }
    const bool good =
        std::equal(leaves.begin(), leaves.end(), type.leaves.begin(), type.leaves.end(), same_data);
    return good ? Status() : bad("a record's fields");
  }

  Status check_sum(const ValueType& type) {
    if (type.variants.empty()) return bad("a sum without constructors");
    const LeafType tag{PrimType::kI8, 0, -1};
    if (type.variants.size() > 1 && (type.leaves.empty() || !same_data(type.leaves[0], tag))) {
      return bad("a sum's first part");
    }
    for (const auto& variant : type.variants) {
      if (!is_word(variant.name) || variant.payload.size() != variant.payload_leaves.size()) {
        return bad("a constructor");
      }
      for (size_t i = 0; i < variant.payload.size(); ++i) {
        KENAZ_ASSIGN(const auto* part, visit(variant.payload[i]));
        const auto is_place = [&](int place, const LeafType& leaf) {
          return place >= 0 && static_cast<size_t>(place) < type.leaves.size() &&
                 same_data(type.leaves[static_cast<size_t>(place)], leaf);
        };
        const auto& places = variant.payload_leaves[i];
        if (!std::equal(places.begin(), places.end(), part->begin(), part->end(), is_place)) {
          return bad("a constructor's payload");
        }
      }
    }
    return {};
  }

  const TypeTable& types_;
  std::set<std::string> done_, open_;
};

Result<host::EntrySignature> entry_signature(const program::Program& program,
                                             const program::Entry& entry) {
  host::EntrySignature s;
  const auto is_known = [&](const std::string& type) { return program.types.contains(type); };
  const auto doc_is_good = [&](const std::string& doc) {
    return is_utf8(doc) && std::none_of(doc.begin(), doc.end(), [](unsigned char c) {
             return c < ' ' && c != '\n' && c != '\t';
           });
  };
  if (!is_word(entry.name) || !is_known(entry.result_type) || !doc_is_good(entry.doc) ||
      !std::all_of(entry.attrs.begin(), entry.attrs.end(), is_line)) {
    return bad("an entry point");
  }
  s.name = entry.name;
  s.result = entry.result_type;
  s.result_unique = entry.result_unique;
  s.attrs = entry.attrs;
  s.doc = entry.doc;
  for (const auto& param : entry.params) {
    if (!is_line(param.name) || !is_known(param.type)) return bad("a parameter");
    const auto leaves = static_cast<int>(program.types.at(param.type).leaves.size());
    s.params.push_back({param.name, param.type, param.consumed, leaves});
  }
  for (const uint32_t index : entry.tuning) {
    if (index >= program.tuning.size()) return bad("a tuning parameter");
    s.tuning.push_back(program.tuning[index].name);
  }
  return s;
}

}  // namespace

std::string write_signature(const host::Engine& engine) {
  program::Program program;
  program.types = engine.types();
  program.tuning = engine.tuning_params();
  for (const auto& entry : engine.entries()) {
    program::Entry& e = program.entries[entry.name];
    e.name = entry.name;
    e.result_type = entry.result;
    e.result_unique = entry.result_unique;
    e.attrs = entry.attrs;
    e.doc = entry.doc;
    for (const auto& p : entry.params) e.params.push_back({p.name, p.type, p.consumed, {}});
    for (uint32_t i = 0; i < program.tuning.size(); ++i) {
      const bool reads = std::find(entry.tuning.begin(), entry.tuning.end(),
                                   program.tuning[i].name) != entry.tuning.end();
      if (reads) e.tuning.push_back(i);
    }
  }
  const auto bytes = program::serialise(program);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<Signature> read_signature(std::string_view bytes) {
  KENAZ_ASSIGN(auto program, program::deserialise(std::as_bytes(std::span(bytes))));
  KENAZ_TRY(TypeChecks(program.types).all());
  Signature s;
  for (const auto& [name, entry] : program.entries) {
    if (name != entry.name) return bad("an entry point's name");
    KENAZ_ASSIGN(auto signature, entry_signature(program, entry));
    s.entries.push_back(std::move(signature));
  }
  for (const auto& param : program.tuning) {
    if (!is_word(param.name)) return bad("a tuning parameter's name");
  }
  s.types = std::move(program.types);
  s.tuning = std::move(program.tuning);
  return s;
}

}  // namespace kenaz
