#include "server/host/failures.h"

#include <fmt/format.h>

namespace kenaz::host {

namespace {
constexpr size_t kWords = program::kFailureRecordBytes / 8;
constexpr size_t kFirstArg = 2;
using Words = std::array<int64_t, kWords>;
constexpr Words kClear{};
}  // namespace

tl::unexpected<Error> program_failure(const std::string& message, const std::string& backtrace) {
  std::string text = "Error: " + message;
  if (!backtrace.empty()) text += "\n\nBacktrace:\n" + backtrace;
  return fail(ErrorKind::kProgramFailure, std::move(text));
}

std::string value_text(PrimValue value) {
  switch (prim_kind(value.type)) {
    case PrimKind::kSigned: return fmt::format("{}", value.as_i64());
    case PrimKind::kUnsigned: return fmt::format("{}", value.as_u64());
    case PrimKind::kFloat: return fmt::format("{}", value.as_double());
    case PrimKind::kBool: return value.as_bool() ? "true" : "false";
  }
  return {};
}

Result<FailureRecord> FailureRecord::create(device::Device& device) {
  KENAZ_ASSIGN(auto block, device.allocate_shared(program::kFailureRecordBytes));
  KENAZ_TRY(device.upload(block, 0, std::as_bytes(std::span(kClear))));
  FailureRecord record(std::move(block));
  KENAZ_ASSIGN(auto cell, device.allocate_for_host(program::kCellBytes));
  if (!device.watched(cell).empty()) {
    record.cell_ = BlockPart(std::move(cell));
    record.cell_.has_cells = true;
  }
  return record;
}

Status FailureRecord::clear(device::Device& device) {
  return device.upload(block_, 0, std::as_bytes(std::span(kClear)));
}

Status FailureRecord::check(device::Device& device, const program::Program& program) {
  if (word_ == 0) return {};
  word_ = 0;
  Words words{};
  KENAZ_TRY(device.download(block_, 0, std::as_writable_bytes(std::span(words))));
  KENAZ_TRY(clear(device));
  if (words[0] == program::kStoppedWord) return program_failure("the call was stopped.", "");
  const int64_t number = words[0] - 1;
  if (number < 0 || number >= static_cast<int64_t>(program.kernel_failures.size())) {
    return internal_error(
        fmt::format("a kernel reported failure {} of {}", number, program.kernel_failures.size()));
  }
  const program::KernelFailure& failure = program.kernel_failures[static_cast<size_t>(number)];
  std::string message;
  for (const auto& part : failure.message) {
    if (const auto* text = std::get_if<std::string>(&part)) {
      message += *text;
    } else {
      const auto i = static_cast<size_t>(std::get<int>(part));
      const PrimType type = failure.arg_types[i];
      const int bits = prim_bits(type);
      const auto mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
      message += value_text({type, static_cast<uint64_t>(words[kFirstArg + i]) & mask});
    }
  }
  return program_failure(message, failure.backtrace);
}

}  // namespace kenaz::host
