// dot_client URL: asks a server of this program for a product, with the client library.
//
//   entry dot [n] (xs: [n]f32) (ys: [n]f32): f32 = reduce (+) 0 (map2 (*) xs ys)
#include <fmt/format.h>

#include "client/lib/client.h"

namespace {

kenaz::Result<float> dot(const char* url) {
  using kenaz::client::Client;
  KENAZ_ASSIGN(Client client, Client::connect(url, {}, kenaz::client::deadline_in(10)));
  const std::vector<float> xs{1, 2, 3}, ys{4, 5, 6};
  // Sent one after the other, without waiting; the futures nobody asks cost nothing.
  client.put_async<float>("xs", xs, {3});
  client.put_async<float>("ys", ys, {3});
  client.call_async("dot", "d", {"xs", "ys"});
  return client.get_scalar<float>("d");
}

}  // namespace

int main(int argc, char** argv) {
  const auto product = dot(argc == 2 ? argv[1] : "unix://dot.sock");
  if (!product) {
    fmt::print(stderr, "dot_client: {}\n", product.error().text());
    return 1;
  }
  fmt::print("{}\n", *product);
  return 0;
}
