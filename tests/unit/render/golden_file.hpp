// tests/render/<case>/expected.txt: all files that a matrix gives. What repeats is told once:
//
//   ==== image ID             everything of an image: its files, its entry of index.json, its services
//   ---- NAME                 ... of which this one begins
//   ==== image ID like OTHER  (ID, or CASE/ID) the text of OTHER with ID in its id's place, then
//   ~ OLD => NEW              with every OLD replaced, then
//   -LINE @LINE +LINE         walked from its top: drop the next such LINE, go on behind the next such LINE,
//   add LINE
//   ==== file NAME            a file; its line <images> stands for what the images say of it
//
// tests/e2e/golden_files.py reads them, too.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cudamatrix::golden_file {

using Tree = std::map<std::string, std::string>;  ///< path -> text
using Lines = std::vector<std::string>;

struct Image {
    std::string id;
    Lines lines;
    bool derived = false;  ///< told by its difference from another
};

/// The golden files that were read so far, by case: the base of later ones.
class Reader {
  public:
    [[nodiscard]] Tree read(const std::string& name, std::string_view text);
    /// The text that gives `tree` when it is read; bases are earlier images of this case and those of
    /// `common`.
    [[nodiscard]] std::string write(const std::string& name, const Tree& tree, const std::string& common);

  private:
    std::map<std::string, std::vector<Image>> cases_;
};

}  // namespace cudamatrix::golden_file
