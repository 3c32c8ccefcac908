#include "client/bench/copy_rate.h"

#include <fmt/format.h>

#include <algorithm>

#include "client/bench/profile.h"
#include "client/lib/temp_dir.h"
#include "client/lib/values.h"

namespace kenaz::bench {

namespace {

constexpr const char* kProgram =
    "entry make (n: i64): []i32 = map i32.i64 (iota n)\n"
    "entry copy (xs: []i32): []i32 = map (^ 1) xs\n";

/// Of the quickest of some copies; 0: the device's clock did not go on.
Result<double> rate_of_size(client::Connection& server, const client::TempDir& scratch,
                            int64_t elements, double& microseconds) {
  constexpr int kCopies = 5;
  KENAZ_TRY(
      client::put_values(server, scratch, {"n"}, {data::Value::scalar(PrimValue::i64(elements))}));
  KENAZ_TRY(server.request({"call", "make", "xs", "n"}));
  KENAZ_TRY(server.request_line({"report"}));  // of what is not measured
  for (int k = 0; k <= kCopies; ++k) {
    KENAZ_TRY(server.request({"call", "copy", "ys", "xs"}));
    KENAZ_TRY(server.request({"free", "ys"}));
  }
  KENAZ_ASSIGN(const auto report, server.request_line({"report"}));
  KENAZ_TRY(server.request({"free", "xs", "n"}));
  KENAZ_ASSIGN(const auto profile, parse_profile(report));
  double best = 0;
  for (const ProfiledCall& call : profile.calls) {
    for (const Event& kernel : call.kernels) {
      if (kernel.us <= 0 || kernel.bytes <= 0) continue;
      const double rate = static_cast<double>(kernel.bytes) / kernel.us;
      if (rate > best) microseconds = kernel.us;
      best = std::max(best, rate);
    }
  }
  return best;
}

}  // namespace

Result<double> copy_rate(client::ServerOptions options) {
  constexpr int64_t kLeast = int64_t{1} << 21, kMost = int64_t{1} << 27;  // elements of 4 bytes
  constexpr double kEnough = 1e4;                                         // microseconds
  KENAZ_ASSIGN(const auto scratch, client::TempDir::make());
  options.program = scratch.file("copy.fut");
  KENAZ_TRY(client::write_file(options.program, kProgram));
  options.stderr_path = scratch.file("server.stderr");
  options.arguments.push_back("--profile");
  KENAZ_ASSIGN(const auto server, client::Connection::start(options, client::Deadline::max()));
  double best = 0;
  for (int64_t elements = kLeast; elements <= kMost; elements *= 8) {
    double microseconds = 0;
    const auto rate = rate_of_size(*server, scratch, elements, microseconds);
    if (!rate && best == 0) return rate;
    if (!rate) break;  // no memory for more, say
    best = std::max(best, *rate);
    if (microseconds >= kEnough) break;
  }
  if (best == 0) return bad_request("the server does not say how long kernels take");
  return best;
}

}  // namespace kenaz::bench
