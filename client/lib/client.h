// A server's variables and entry points, for C++ programs:
//
//   auto client = Client::connect("unix:///run/kenaz.sock", {}, deadline_in(5));
//   client->put<float>("xs", xs, {1000});
//   auto time = client->call("dot", "d", {"xs", "xs"});
//   auto d = client->get_scalar<float>("d");
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "client/lib/connection.h"
#include "client/lib/program_sources.h"
#include "client/lib/shared_memory.h"
#include "protocol/base/result.h"
#include "protocol/data/value.h"

namespace kenaz::client {

/// A number of type f16.
struct Half {
  uint16_t bits = 0;
  static Half of(float f) { return {float_to_half(f)}; }
  float to_float() const { return half_to_float(bits); }
  friend bool operator==(Half, Half) = default;
};

// clang-format off
template <class T> struct ElementType;
template <> struct ElementType<int8_t> { static constexpr PrimType value = PrimType::kI8; };
template <> struct ElementType<int16_t> { static constexpr PrimType value = PrimType::kI16; };
template <> struct ElementType<int32_t> { static constexpr PrimType value = PrimType::kI32; };
template <> struct ElementType<int64_t> { static constexpr PrimType value = PrimType::kI64; };
template <> struct ElementType<uint8_t> { static constexpr PrimType value = PrimType::kU8; };
template <> struct ElementType<uint16_t> { static constexpr PrimType value = PrimType::kU16; };
template <> struct ElementType<uint32_t> { static constexpr PrimType value = PrimType::kU32; };
template <> struct ElementType<uint64_t> { static constexpr PrimType value = PrimType::kU64; };
template <> struct ElementType<Half> { static constexpr PrimType value = PrimType::kF16; };
template <> struct ElementType<float> { static constexpr PrimType value = PrimType::kF32; };
template <> struct ElementType<double> { static constexpr PrimType value = PrimType::kF64; };
template <> struct ElementType<bool> { static constexpr PrimType value = PrimType::kBool; };
// clang-format on

/// Row-major. Truth values are bytes, as std::vector<bool> has no elements to speak of.
template <class T>
struct Array {
  using Element = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
  std::vector<int64_t> shape;  // empty: a scalar
  std::vector<Element> values;
};

using Shape = std::vector<int64_t>;

/// Not for use by several threads at once; the same holds for the futures that it gives, which are
/// its own. Errors: kProgramFailure is a refusal in the server's words, kInternal a server that is
/// gone, kBadRequest a use that makes no sense, kOutOfMemory that a value has no room here, for
/// which the connection is given up.
///
/// X_async sends the command and returns at once (with all that belongs to it: arguments need not
/// live any longer); the future's get() receives its reply, and those before it. So commands are
/// pipelined: the server works on one while the next is on its way. Futures that nobody asks cost
/// nothing, and may outlive the client.
class Client {
 public:
  template <class T>
  using Future = std::future<Result<T>>;

  /// Starts a server. With an empty options.program, options.server is some server executable:
  /// values then go through temporary files, which every server understands.
  static Result<Client> start(const ServerOptions& options, Deadline deadline);
  static Result<Client> connect(std::string_view url, const ConnectOptions& options,
                                Deadline deadline);

  /// On a socket; the server has greeted.
  explicit Client(std::unique_ptr<Connection> connection);

  /// For all commands that follow.
  void set_deadline(Deadline deadline);
  bool broken() const;

  /// Makes a variable: a scalar, an array, or a value of an opaque type out of its leaves. The
  /// elements are sent from where they are.
  template <class T>
  Status put(const std::string& name, T scalar) {
    return put_async(name, scalar).get();
  }
  template <class T>
  Status put(const std::string& name, std::span<const T> elements, const Shape& shape) {
    return put_async(name, elements, shape).get();
  }
  Status put(const std::string& name, const data::Value& value) {
    return put_async(name, value).get();
  }
  Status put_opaque(const std::string& name, const std::string& type,
                    std::span<const data::Value> leaves) {
    return put_opaque_async(name, type, leaves).get();
  }
  template <class T>
  Future<void> put_async(const std::string& name, T scalar) {
    return put_async(name, std::span<const T>(&scalar, 1), {});
  }
  template <class T>
  Future<void> put_async(const std::string& name, std::span<const T> elements, const Shape& shape) {
    const Piece piece{ElementType<T>::value, shape, std::as_bytes(elements)};
    return upload(name, "", {&piece, 1});
  }
  Future<void> put_async(const std::string& name, const data::Value& value);
  Future<void> put_opaque_async(const std::string& name, const std::string& type,
                                std::span<const data::Value> leaves);

  /// The same for elements whose type is known only when the program runs: as they lie in memory,
  /// row by row. They are sent before this returns.
  Future<void> put_bytes_async(const std::string& name, PrimType type,
                               std::span<const std::byte> elements, const Shape& shape) {
    const Piece piece{type, shape, elements};
    return upload(name, "", {&piece, 1});
  }

  /// Returns the place for the elements of a value of this shape.
  using Allocate = std::function<std::span<std::byte>(const Shape& shape, size_t count)>;
  /// Receives the elements of a scalar or an array where `allocate` says, which is called when the
  /// reply comes, and may not be called if the command fails. Another type is an error.
  Future<void> get_bytes_async(const std::string& name, PrimType type, Allocate allocate) {
    return download(name, type, std::move(allocate));
  }

  /// Memory for values that are on their way: a server that this client started reads and writes
  /// it itself. Null if the server is another one, or cannot, or there is no such memory: values
  /// then have to go through the connection. A client has one at a time.
  std::shared_ptr<SharedMemory> share(size_t bytes);
  /// Bytes that the elements of a value of this rank need before them in shared memory.
  static size_t shared_header_bytes(size_t rank);
  /// As put_bytes_async, of elements that lie in the shared memory `at` bytes from its beginning.
  /// They may be changed when the reply has been received.
  Future<void> put_shared_async(const std::string& name, PrimType type, const SharedMemory& memory,
                                size_t at, const Shape& shape);
  /// A place in shared memory; `room` bytes from `at` on.
  struct SharedPlace {
    std::shared_ptr<const SharedMemory> memory;
    size_t at, room;
  };
  /// Tells where elements are that have been received in shared memory.
  using Found = std::function<void(const Shape& shape, std::span<const std::byte> elements)>;
  /// As get_bytes_async, but a value that has room in the place, with its header, comes there:
  /// `found` is then called instead of `allocate`.
  Future<void> get_shared_async(const std::string& name, PrimType type, const SharedPlace& place,
                                Found found, Allocate allocate);

  /// A variable's value, received where it stays. Another type than T's is an error.
  template <class T>
  Result<Array<T>> get(const std::string& name) {
    return get_async<T>(name).get();
  }
  template <class T>
  Result<T> get_scalar(const std::string& name) {
    KENAZ_ASSIGN(const Array<T> array, get<T>(name));
    if (!array.shape.empty()) return bad_request(name + " is an array, not a scalar");
    return static_cast<T>(array.values[0]);
  }
  template <class T>
  Future<Array<T>> get_async(const std::string& name) {
    auto array = std::make_shared<Array<T>>();
    auto received = download(name, ElementType<T>::value, [array](const Shape& shape, size_t n) {
      array->shape = shape;
      array->values.resize(n);
      return std::as_writable_bytes(std::span(array->values));
    });
    return std::async(std::launch::deferred,
                      [array, received = std::move(received)]() mutable -> Result<Array<T>> {
                        KENAZ_TRY(received.get());
                        return std::move(*array);
                      });
  }
  /// One value, or the leaves of one that is opaque.
  Result<std::vector<data::Value>> get_values(const std::string& name) {
    return get_values_async(name).get();
  }
  Future<std::vector<data::Value>> get_values_async(const std::string& name);

  /// The run time on the server.
  Result<std::chrono::microseconds> call(const std::string& entry, const std::string& out,
                                         const std::vector<std::string>& ins) {
    return call_async(entry, out, ins).get();
  }
  Future<std::chrono::microseconds> call_async(const std::string& entry, const std::string& out,
                                               const std::vector<std::string>& ins);
  Status free(const std::vector<std::string>& names) { return free_async(names).get(); }
  Future<void> free_async(const std::vector<std::string>& names);

  /// Sends a program, which the server compiles and runs in a process of its own, if it allows that
  /// (--allow-load). It is this session's; choose_program() chooses it. kCompile, with the
  /// compiler's messages, if it has errors. The first file is the program.
  Status load(const std::string& name, std::span<const SourceFile> files) {
    return load_async(name, files).get();
  }
  /// The same of a file and those that it imports; kBadRequest if one cannot be read.
  Status load(const std::string& name, const std::string& path) {
    KENAZ_ASSIGN(const auto files, read_program(path));
    return load(name, files);
  }
  Future<void> load_async(const std::string& name, std::span<const SourceFile> files);
  /// Ends a program that was loaded; variables stay.
  Status unload(const std::string& name) { return done({"unload", name}); }
  /// The program that the session's commands are about from now on.
  Status choose_program(const std::string& name) { return done({"program", name}); }

  /// The device that the session is on: "#0".
  Result<std::string> device();
  /// Has the session, with its values, on another of the server's devices.
  Status choose_device(const std::string& number) { return done({"device", number}); }

  /// Any other command that is answered in lines.
  Result<std::vector<std::string>> request(const std::vector<std::string>& words) {
    return request_async(words).get();
  }
  Future<std::vector<std::string>> request_async(const std::vector<std::string>& words);

  /// For what goes beyond this class. Not while replies are outstanding.
  Connection& connection();

  /// Waits for all replies, tells the server that nothing more comes, waits for its end.
  Status finish();

 private:
  struct Piece {
    PrimType type;
    Shape shape;
    std::span<const std::byte> bytes;
  };
  struct Core;
  explicit Client(std::shared_ptr<Core> core) : core_(std::move(core)) {}
  /// An empty type: that of the only piece.
  Future<void> upload(const std::string& name, const std::string& type,
                      std::span<const Piece> pieces);
  Future<void> download(const std::string& name, PrimType type, Allocate allocate);
  /// A command without an answer but that.
  Status done(const std::vector<std::string>& words) {
    KENAZ_TRY(request(words));
    return {};
  }

  std::shared_ptr<Core> core_;
};

}  // namespace kenaz::client
