// What earlier runs did: one JSON line per step, and one per proved cell, only ever appended. A run that was
// interrupted, or is repeated, takes from here what still holds. A torn or foreign line is passed over: it
// costs a repetition, never a wrong result.
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

/// How a step ended: what a later run expects of it.
struct StepRecord {
    std::string kind;  ///< base, stage, image, proof, test
    std::string of;    ///< what it made: a base, Image::id, CellResult::id
    bool good = false;
    double seconds = 0;
};

class Journal {
  public:
    /// Reads the journal at `path`; a missing one is empty.
    [[nodiscard]] static Result<Journal> open(std::filesystem::path path);

    /// The recorded result of `cell_id`, if it was gained under the same `key`.
    [[nodiscard]] const CellResult* find(std::string_view cell_id, std::string_view key) const;
    /// The last recorded result of `cell_id`, under whatever key.
    [[nodiscard]] const CellResult* last(std::string_view cell_id) const;
    [[nodiscard]] std::size_t size() const { return entries_.size(); }  ///< cells
    [[nodiscard]] bool is_empty() const { return entries_.empty() && steps_.empty(); }

    /// The last record of that step; nullptr: it never ended.
    [[nodiscard]] const StepRecord* last_step(std::string_view kind, std::string_view of) const;

    /// What steps of that kind took that succeeded, on the average; negative: there was none.
    [[nodiscard]] double usual_seconds(std::string_view kind) const;

    /// Appends one line and syncs it. Safe from several threads. What is recorded: outcome, reason, proof,
    /// log, seconds, tests.
    [[nodiscard]] Status append(const CellResult& result, std::string_view key);
    [[nodiscard]] Status append(const StepRecord& step);

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
    [[nodiscard]] Status write(std::string line);

    std::filesystem::path path_;
    std::map<std::string, Entry, std::less<>> entries_;
    std::map<std::string, StepRecord, std::less<>> steps_;  ///< by "KIND OF"
    bool torn_ = false;  ///< the file does not end with a newline: the next line must begin with one
    std::mutex mutex_;
};

}  // namespace cudamatrix::job
