#include "client/cli/dataset.h"

#include <fmt/format.h>
#include <getopt.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/subcommands.h"
#include "client/lib/values.h"
#include "client/testing/random_data.h"
#include "protocol/base/whole_number.h"
#include "protocol/data/binary_format.h"
#include "protocol/data/compare.h"
#include "protocol/data/text_format.h"
#include "protocol/data/values.h"

namespace kenaz::cli {
namespace {

constexpr const char* kDatasetHelp = R"(Usage: kenaz dataset [OPTION]...
Random values of given types, or the values on standard input in another form. Options hold for
what follows them.

  -g, --generate=TYPE       Generate a value of TYPE, such as i32 or [10][2]f32, or this very value.
  -b, --binary              Write the binary format.
      --text                Write text (the default).
  -t, --type                Write types instead of values.
  -s, --seed=INT            The random numbers' seed, 1 by default.
      --i32-bounds=MIN:MAX  Bounds of values of type i32; so for all types.
  -h, --help                Print this.
)";

constexpr const char* kDatacmpHelp = R"(Usage: kenaz datacmp [OPTION]... FILE FILE
Compares the values in two files, of which the second holds what is expected. Exit status 0 if they
are equal, 2 if they differ, 1 if they cannot be compared.

  -t, --tolerance=NUMBER  Tolerate so much in floats, absolutely or of the largest; default: 0.002.
  -h, --help              Print this.
)";

enum class Form { kText, kBinary, kType };

struct DatasetState {
  Form form = Form::kText;
  uint64_t seed = 1;
  uint64_t generated = 0;
  std::map<PrimType, testing::RandomBounds> bounds;
};

Status print(const data::Value& value, Form form) {
  switch (form) {
    case Form::kBinary: return print_binary(value);
    case Form::kText: return print_text(data::to_text(value) + "\n");
    case Form::kType:
      return print_text(
          fmt::format("{}{}\n", data::shape_text(value.shape), prim_name(value.type)));
  }
  return {};
}

Status generate(const std::string& what, DatasetState& state) {
  const auto type = testing::parse_random_type(what);
  if (!type) {
    auto values = data::read_values(what);
    if (!values || values->size() != 1) {
      return bad_request(fmt::format("'{}' is neither a type nor a value", what));
    }
    return print(values->front(), state.form);
  }
  const auto bounds = state.bounds.find(type->prim);
  // Values of one type differ from each other, and do not depend on what is generated after them.
  const uint64_t seed = state.seed + 0x5851f42d4c957f2du * state.generated++;
  KENAZ_ASSIGN(const auto value,
               testing::random_value(
                   *type, seed,
                   bounds == state.bounds.end() ? std::nullopt : std::optional(bounds->second)));
  return print(value, state.form);
}

Status set_bounds(PrimType type, const std::string& text, DatasetState& state) {
  const size_t colon = text.find(':');
  if (colon != std::string::npos) {
    const auto low = data::parse_scalar(text.substr(0, colon), type);
    const auto high = data::parse_scalar(text.substr(colon + 1), type);
    const bool ordered = low && high &&
                         (is_float(type) ? low->as_double() <= high->as_double()
                          : prim_kind(type) == PrimKind::kSigned ? low->as_i64() <= high->as_i64()
                                                                 : low->bits <= high->bits);
    if (ordered) {
      state.bounds[type] = {*low, *high};
      return {};
    }
  }
  return bad_request(fmt::format("bounds of {} are MIN:MAX, not '{}'", prim_name(type), text));
}

Status set_seed(const std::string& text, DatasetState& state) {
  const auto seed = whole_number<int64_t>(text);
  if (!seed) return bad_request(fmt::format("'{}' is no seed", text));
  state.seed = static_cast<uint64_t>(*seed);
  return {};
}

Status convert(Form form) {
  KENAZ_ASSIGN(auto source, data::ByteSource::open("/dev/stdin"));
  for (;;) {
    KENAZ_ASSIGN(const auto value, data::read_value(source));
    if (!value) return {};
    KENAZ_TRY(print(*value, form));
  }
}

constexpr int kFirstBounds = 512;  // codes of --T-bounds, beyond all letters

std::vector<option> long_options(std::vector<std::string>& names) {
  std::vector<option> longs = {
      {"generate", required_argument, nullptr, 'g'}, {"binary", no_argument, nullptr, 'b'},
      {"text", no_argument, nullptr, 'x'},           {"type", no_argument, nullptr, 't'},
      {"seed", required_argument, nullptr, 's'},     {"help", no_argument, nullptr, 'h'}};
  for (int i = 0; i < kPrimTypeCount; ++i) {
    names.push_back(fmt::format("{}-bounds", prim_name(static_cast<PrimType>(i))));
  }
  for (int i = 0; i < kPrimTypeCount; ++i) {
    longs.push_back(
        {names[static_cast<size_t>(i)].c_str(), required_argument, nullptr, kFirstBounds + i});
  }
  longs.push_back({nullptr, 0, nullptr, 0});
  return longs;
}

/// Nothing: the command line is wrong, and getopt_long has said so.
std::optional<Status> apply(int code, DatasetState& state, bool& generates) {
  const std::string argument = optarg != nullptr ? optarg : "";
  switch (code) {
    case 'g': generates = true; return generate(argument, state);
    case 'b': state.form = Form::kBinary; return Status();
    case 'x': state.form = Form::kText; return Status();
    case 't': state.form = Form::kType; return Status();
    case 's': return set_seed(argument, state);
    default: break;
  }
  if (code < kFirstBounds) return std::nullopt;
  return set_bounds(static_cast<PrimType>(code - kFirstBounds), argument, state);
}

}  // namespace

int dataset(int argc, char** argv) {
  std::vector<std::string> names;
  const auto longs = long_options(names);
  DatasetState state;
  bool generates = false;
  optind = 1;
  for (int code; (code = getopt_long(argc, argv, "g:bts:h", longs.data(), nullptr)) != -1;) {
    if (code == 'h') {
      fmt::print("{}", kDatasetHelp);
      return kOk;
    }
    const auto status = apply(code, state, generates);
    if (!status) return kFailed;
    if (!*status) return complain(status->error());
  }
  if (optind < argc) {
    return complain({ErrorKind::kBadRequest,
                     fmt::format("dataset takes options only, not '{}'", argv[optind]),
                     {}});
  }
  Status status;
  if (!generates) status = convert(state.form);
  return status ? kOk : complain(status.error());
}

int datacmp(int argc, char** argv) {
  constexpr int kDiffer = 2;
  constexpr option kLongs[] = {{"tolerance", required_argument, nullptr, 't'},
                               {"help", no_argument, nullptr, 'h'},
                               {nullptr, 0, nullptr, 0}};
  double tolerance = data::kTolerance;
  optind = 1;
  for (int code; (code = getopt_long(argc, argv, "t:h", kLongs, nullptr)) != -1;) {
    if (code == 'h') {
      fmt::print("{}", kDatacmpHelp);
      return kOk;
    }
    if (code != 't') return kFailed;  // getopt_long has said why
    char* end = nullptr;
    tolerance = std::strtod(optarg, &end);
    if (end == optarg || *end != '\0' || !(tolerance >= 0)) {
      return complain({ErrorKind::kBadRequest, fmt::format("'{}' is no tolerance", optarg), {}});
    }
  }
  if (argc - optind != 2) {
    fmt::print(stderr, "{}", kDatacmpHelp);
    return kFailed;
  }
  const auto got = client::read_value_file(argv[optind]);
  if (!got) return complain(got.error());
  const auto expected = client::read_value_file(argv[optind + 1]);
  if (!expected) return complain(expected.error());
  const auto difference = data::mismatch(*expected, *got, tolerance);
  if (!difference) return kOk;
  fmt::print("{}\n", *difference);
  return kDiffer;
}

}  // namespace kenaz::cli
