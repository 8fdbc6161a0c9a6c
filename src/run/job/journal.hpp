// What earlier runs proved: one JSON line per cell, only ever appended. A run that was interrupted, or is
// repeated, takes from here what still holds. A torn or foreign line is passed over: it costs a repetition,
// never a wrong result.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "report/results.hpp"

namespace cudamatrix::job {

class Journal {
  public:
    /// Reads the journal at `path`; a missing one is empty.
    [[nodiscard]] static Result<Journal> open(std::filesystem::path path);

    /// The recorded result of `cell_id`, if it was gained under the same `key`.
    [[nodiscard]] const CellResult* find(std::string_view cell_id, std::string_view key) const;
    /// The last recorded result of `cell_id`, under whatever key.
    [[nodiscard]] const CellResult* last(std::string_view cell_id) const;
    [[nodiscard]] std::size_t size() const { return entries_.size(); }

    /// Appends one line and syncs it. Safe from several threads. What is recorded: outcome, reason, proof,
    /// log, seconds, tests.
    [[nodiscard]] Status append(const CellResult& result, std::string_view key);

    Journal(Journal&& other) noexcept;
    Journal& operator=(Journal&&) = delete;
    Journal(const Journal&) = delete;

  private:
    struct Entry {
        std::string key;
        CellResult result;
    };
    explicit Journal(std::filesystem::path path) : path_(std::move(path)) {}
    void load(std::string_view content);

    std::filesystem::path path_;
    std::map<std::string, Entry, std::less<>> entries_;
    bool torn_ = false;  ///< the file does not end with a newline: the next line must begin with one
    std::mutex mutex_;
};

}  // namespace cudamatrix::job
