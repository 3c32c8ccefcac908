#include "kernels/futhark/check/reports.h"

#include <algorithm>

namespace kenaz::check {

namespace {

/// Each place once (a parametric module's body is checked anew for each use), up to a limit.
void add_once(Diagnostic d, std::vector<Diagnostic>& list) {
  const bool known = std::any_of(list.begin(), list.end(), [&](const Diagnostic& other) {
    return other.range.file == d.range.file && other.range.begin == d.range.begin;
  });
  if (!known && list.size() < kMaxErrors) list.push_back(std::move(d));
}

/// Text that is not ours.
bool is_of_user(const SourceRange& range) {
  return range.file && range.file->name != "intrinsics" &&
         range.file->name.rfind("/prelude/", 0) != 0;
}

}  // namespace

void Reports::error(const SourceRange& range, std::string message, std::string anchor) {
  error({Severity::kError, range, std::move(message), std::move(anchor), {}});
}

void Reports::error(Diagnostic d) {
  if (!failed()) errors_.push_back(std::move(d));
}

void Reports::abandon() {
  if (errors_.empty()) abandoned_ = true;
}

bool Reports::recover() {
  const bool was = failed();
  for (Diagnostic& d : errors_) add_once(std::move(d), put_aside_);
  forget();
  return was;
}

void Reports::forget() {
  errors_.clear();
  abandoned_ = false;
}

void Reports::later(const SourceRange& range, std::string message) {
  later({Severity::kError, range, std::move(message), "", {}});
}

void Reports::later(Diagnostic d) { add_once(std::move(d), late_); }

std::vector<Diagnostic> Reports::errors() const {
  std::vector<Diagnostic> out;
  std::vector<const SourceFile*> files;
  const auto file_number = [&](const Diagnostic& d) {
    return std::find(files.begin(), files.end(), d.range.file.get()) - files.begin();
  };
  for (const auto* list : {&put_aside_, &errors_, &late_}) {
    for (const Diagnostic& d : *list) {
      if (static_cast<size_t>(file_number(d)) == files.size()) {
        files.push_back(d.range.file.get());
      }
      out.push_back(d);
    }
  }
  std::stable_sort(out.begin(), out.end(), [&](const Diagnostic& a, const Diagnostic& b) {
    const auto i = file_number(a), j = file_number(b);
    return i != j ? i < j : a.range.begin < b.range.begin;
  });
  if (out.size() > kMaxErrors) out.resize(kMaxErrors);
  return out;
}

void Reports::warn(Warning kind, const SourceRange& range, const std::string& part) {
  if (is_written(range)) warnings_.add(kind, range, part);
}

bool Reports::is_written(const SourceRange& range) const { return is_of_user(range) && !quiet_; }

}  // namespace kenaz::check
