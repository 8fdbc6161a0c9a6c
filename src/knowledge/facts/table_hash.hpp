// The hash over all rows of all tables: made by the build for the embedded ones, at run time where tables are
// laid over them.
#pragma once

#include <string>
#include <string_view>

#include "base/sha256.hpp"

namespace cudamatrix::facts {

/// To be fed in the order of the tables, their rows and their columns. Every text is followed by a separator
/// of its own level, so that no two different tables read the same.
class TableHash {
  public:
    void table(std::string_view name) { hash_.update(name).update("\x1c"); }
    void column(std::string_view name, bool is_list) {
        hash_.update(name).update(is_list ? "\x1d[" : "\x1d");
    }
    void value(std::string_view text) { hash_.update(text).update("\x1f"); }
    void row_end() { hash_.update("\x1e"); }
    /// First 12 hexadecimal digits; nothing may be fed afterwards.
    [[nodiscard]] std::string digits() { return hash_.hex().substr(0, 12); }

  private:
    Sha256 hash_;
};

}  // namespace cudamatrix::facts
