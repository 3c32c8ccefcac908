#include "client/image/picture.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
// clang-format off: jpeglib.h needs stdio.
#include <jpeglib.h>
// clang-format on

#include "client/image/filter.h"
#include "client/lib/temp_dir.h"

namespace kenaz::image {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

int component(const Picture& p, int64_t i) { return static_cast<int>(p.pixels.at(i).bits); }

/// Writes a JPEG of one colour, `channels` per pixel.
void write_jpeg(const std::string& path, int width, int height, const std::vector<JSAMPLE>& pixel) {
  jpeg_compress_struct jpeg = {};
  jpeg_error_mgr errors = {};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  std::FILE* file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  jpeg_stdio_dest(&jpeg, file);
  jpeg.image_width = static_cast<JDIMENSION>(width);
  jpeg.image_height = static_cast<JDIMENSION>(height);
  jpeg.input_components = static_cast<int>(pixel.size());
  jpeg.in_color_space = pixel.size() == 1 ? JCS_GRAYSCALE : pixel.size() == 4 ? JCS_CMYK : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  std::vector<JSAMPLE> row;
  for (int x = 0; x < width; ++x) row.insert(row.end(), pixel.begin(), pixel.end());
  for (int y = 0; y < height; ++y) {
    JSAMPROW start = row.data();
    jpeg_write_scanlines(&jpeg, &start, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::fclose(file);
}

TEST(Picture, JpegsAreOpaqueAndInTheOrderOfFilters) {
  const auto folder = client::TempDir::make();
  ASSERT_TRUE(folder);
  const std::string path = folder->file("colour.jpg");
  write_jpeg(path, 20, 9, {200, 100, 50});
  const auto colour = read_picture(path);
  ASSERT_TRUE(colour) << colour.error().text();
  EXPECT_THAT(colour->pixels.shape, ElementsAre(9, 20, 4));
  EXPECT_NEAR(component(*colour, 0), 50, 3);
  EXPECT_NEAR(component(*colour, 1), 100, 3);
  EXPECT_NEAR(component(*colour, 2), 200, 3);
  EXPECT_EQ(component(*colour, 3), 255);
  write_jpeg(path, 3, 3, {77});
  const auto grey = read_picture(path);
  ASSERT_TRUE(grey) << grey.error().text();
  EXPECT_NEAR(component(*grey, 2), 77, 2);
}

TEST(Picture, JpegsThatEndTooEarlyAreRefused) {
  const auto folder = client::TempDir::make();
  ASSERT_TRUE(folder);
  const std::string path = folder->file("cut.jpg");
  write_jpeg(path, 200, 200, {200, 100, 50});
  const auto whole = std::filesystem::file_size(path);
  ASSERT_TRUE(read_picture(path));
  // Only the end's marker is missing; many rows are.
  for (const auto size : {whole - 2, whole - 100}) {
    std::filesystem::resize_file(path, size);
    const auto cut = read_picture(path);
    ASSERT_FALSE(cut) << size;
    EXPECT_EQ(cut.error().message, path + ": Premature end of JPEG file");
  }
}

TEST(Picture, JpegsWithBytesTooManyAreRead) {
  const auto folder = client::TempDir::make();
  ASSERT_TRUE(folder);
  const std::string path = folder->file("long.jpg");
  write_jpeg(path, 20, 9, {200, 100, 50});
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 2);
  std::ofstream(path, std::ios::app | std::ios::binary) << "????"
                                                           "\xff\xd9";
  EXPECT_TRUE(read_picture(path));
}

TEST(Picture, JpegsInCmykAreRefused) {
  const auto folder = client::TempDir::make();
  ASSERT_TRUE(folder);
  const std::string path = folder->file("print.jpg");
  write_jpeg(path, 20, 9, {200, 100, 50, 25});
  EXPECT_THAT(read_picture(path).error().message, HasSubstr("JPEGs in CMYK are not read"));
}

TEST(Picture, ComesBackFromAFile) {
  const auto folder = client::TempDir::make();
  ASSERT_TRUE(folder);
  for (const int bits : {8, 16}) {
    for (const bool opaque : {false, true}) {
      Picture p = empty_picture(3, 5, bits);
      const size_t each = static_cast<size_t>(bits / 8);
      for (size_t i = 0; i < p.pixels.bytes.size(); ++i) {
        p.pixels.bytes[i] = static_cast<std::byte>(i * 37 + 5);
        if (opaque && i / each % 4 == 3) p.pixels.bytes[i] = std::byte{0xff};
      }
      const std::string path = folder->file("p.png");
      ASSERT_TRUE(write_picture(path, p));
      const auto back = read_picture(path);
      ASSERT_TRUE(back) << back.error().text();
      EXPECT_EQ(back->pixels, p.pixels) << bits << opaque;
    }
  }
}

TEST(Picture, OtherDepthsRepeatOrKeepTheUpperByte) {
  Picture p = empty_picture(1, 1, 16);
  p.pixels.bytes = {std::byte{0x34}, std::byte{0x12}, std::byte{0xff}, std::byte{0x00},
                    std::byte{0x00}, std::byte{0x80}, std::byte{0x01}, std::byte{0xff}};
  const Picture narrow = with_bits(p, 8);
  EXPECT_THAT((std::vector<int>{component(narrow, 0), component(narrow, 1), component(narrow, 2),
                                component(narrow, 3)}),
              ElementsAre(0x12, 0, 0x80, 0xff));
  EXPECT_EQ(component(with_bits(narrow, 16), 0), 0x1212);
}

TEST(Filter, AttributesTellOfParameters) {
  const auto filter = filter_info(
      "result_u8",
      {"title(\"A \\\"b\\\"\")", "layers(-1, 2)", "texture(stamp, file=\"s.png\")", "other(1)",
       "param(kind, i32, default=1, widget=DROPDOWN, label=\"Kind\", items=[\"a, b\", \"c]\"])",
       "param(place, f32v2, default=[0.5, 0.25], min=[0, 0], max=[1, 1], widget=POINTER)"});
  ASSERT_TRUE(filter) << filter.error().text();
  EXPECT_EQ(filter->title, "A \"b\"");
  EXPECT_THAT(filter->layers, ElementsAre(-1, 2));
  EXPECT_EQ(filter->textures.at(0).file, "s.png");
  ASSERT_EQ(filter->params.size(), 2U);
  EXPECT_THAT(filter->params[0].items, ElementsAre("a, b", "c]"));
  const auto values = param_values(*filter, {"kind=-3"});
  ASSERT_TRUE(values) << values.error().text();
  EXPECT_EQ(values->at(0), data::Value::scalar(PrimValue::i32(-3)));
  EXPECT_THAT(values->at(1).shape, ElementsAre(2));
  EXPECT_EQ(values->at(1).at(1), PrimValue::f32(0.25F));
  for (const char* bad : {"1.5", "", "1,2", "x", "[1", "1]2", "99999999999"}) {
    if (std::string(bad) == "[1") continue;  // a bracket may be left open
    EXPECT_FALSE(param_value(filter->params[0], bad)) << bad;
  }
  EXPECT_FALSE(filter_info("main", {}));
}

}  // namespace
}  // namespace kenaz::image
