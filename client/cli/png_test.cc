#include "client/cli/png.h"

#include <gtest/gtest.h>
#include <png.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "client/lib/temp_dir.h"

namespace kenaz::cli {
namespace {

/// The file's pixels as red, green, blue and alpha.
std::vector<png_byte> read_back(const std::string& path) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_file(&image, path.c_str()), 0);
  image.format = PNG_FORMAT_RGBA;
  std::vector<png_byte> bytes(PNG_IMAGE_SIZE(image));
  EXPECT_NE(png_image_finish_read(&image, nullptr, bytes.data(), 0, nullptr), 0);
  return bytes;
}

TEST(Png, WritesComponents) {
  const auto dir = client::TempDir::make();
  const std::string path = dir->file("x.png");
  data::Value rgb{PrimType::kU8, {1, 1, 3}, {std::byte{1}, std::byte{2}, std::byte{3}}};
  ASSERT_TRUE(write_png(path, rgb));
  EXPECT_EQ(read_back(path), (std::vector<png_byte>{1, 2, 3, 255}));
  data::Value rgba{PrimType::kF32, {1, 1, 4}, {}};
  for (const float x : {0.2f, -1.0f, 1.5f, 0.4f}) data::append(rgba, PrimValue::f32(x));
  ASSERT_TRUE(write_png(path, rgba));
  EXPECT_EQ(read_back(path), (std::vector<png_byte>{51, 0, 255, 102}));
  data::Value grey{PrimType::kF64, {1, 1}, {}};
  data::append(grey, PrimValue::f64(0.6));
  ASSERT_TRUE(write_png(path, grey));
  EXPECT_EQ(read_back(path), (std::vector<png_byte>{153, 153, 153, 255}));
}

TEST(Png, WritesColoursAndGreys) {
  const auto dir = client::TempDir::make();
  data::Value pixels{PrimType::kI32, {2, 1}, {}};
  data::append(pixels, PrimValue::i32(0x102030));
  data::append(pixels, PrimValue::i32(static_cast<int32_t>(0xffaabbccu)));
  const std::string path = dir->file("x.png");
  ASSERT_TRUE(write_png(path, pixels));
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  ASSERT_NE(png_image_begin_read_from_file(&image, path.c_str()), 0);
  EXPECT_EQ(image.width, 1u);
  EXPECT_EQ(image.height, 2u);
  image.format = PNG_FORMAT_RGB;
  std::vector<png_byte> bytes(PNG_IMAGE_SIZE(image));
  ASSERT_NE(png_image_finish_read(&image, nullptr, bytes.data(), 0, nullptr), 0);
  EXPECT_EQ(bytes, (std::vector<png_byte>{0x10, 0x20, 0x30, 0xaa, 0xbb, 0xcc}));
}

TEST(Png, RefusesOtherShapesAndTypes) {
  EXPECT_FALSE(write_png("/dev/null", data::Value::scalar(PrimValue::i32(1))));
  EXPECT_FALSE(write_png("/dev/null", data::Value{PrimType::kI32, {0, 3}, {}}));
  EXPECT_FALSE(write_png("/dev/null", data::Value{PrimType::kI64, {1, 1}, {}}));
  EXPECT_FALSE(write_png("/dev/null", data::Value{PrimType::kU8, {1, 0, 2}, {}}));
  data::Value one{PrimType::kU8, {1, 1}, {std::byte{7}}};
  EXPECT_FALSE(write_png("/nonexistent/x.png", one));
}

TEST(Png, LeavesWhatItCannotWrite) {
  const auto dir = client::TempDir::make();
  // Half a mebibyte that cannot be compressed; files may have 64 KiB.
  constexpr int64_t kSide = 420;
  data::Value pixels{PrimType::kU8, {kSide, kSide, 3}, {}};
  uint32_t random = 1;
  for (int64_t i = 0; i < 3 * kSide * kSide; ++i) {
    random = random * 1664525 + 1013904223;
    pixels.bytes.push_back(static_cast<std::byte>(random >> 24));
  }
  const std::string path = dir->file("x.png");
  ASSERT_TRUE(client::write_file(path, "the old one"));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{64 << 10, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_FALSE(write_png(path, pixels));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(client::read_file(path).value_or("nothing"), "the old one");
  // Into a pipe, as into a device, it writes.
  const std::string pipe = dir->file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread reader([&] { client::read_file(pipe); });
  EXPECT_TRUE(write_png(pipe, pixels));
  reader.join();
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

}  // namespace
}  // namespace kenaz::cli
