// Finds containers of device code in bytes that go by once.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "fatbin/container.hpp"
#include "look/scan/library.hpp"

namespace cudamatrix::scan {

/// Collects what looks like a container at any place of the stream and walks its headers as they come by.
/// Whether it is one that counts is for the caller to decide, who knows the section table at the end.
class ContainerStream {
  public:
    struct Candidate {
        std::uint64_t offset = 0;
        std::uint64_t end = 0;        ///< behind its last byte
        std::size_t first_entry = 0;  ///< of the entries found for it: they are chained by `Record::next`
        std::size_t last_entry = 0;
        std::size_t entries = 0;
        std::uint64_t zeros = 0;  ///< bytes of padding behind it: some linkers align containers to 256
        bool complete = false;    ///< all its entries were read, and they fill it
        bool sass = false;        ///< it has a cubin
        bool code = false;        ///< one of them has instructions, or is compressed
    };

    /// `size`: bytes that the stream will have.
    explicit ContainerStream(std::uint64_t size) : size_(size) {}

    void feed(std::span<const std::uint8_t> bytes);
    /// No more bytes will come.
    void finish();

    /// In the order of their offsets.
    [[nodiscard]] const std::deque<Candidate>& candidates() const { return candidates_; }
    /// The entries of one of them.
    [[nodiscard]] std::vector<fatbin::Entry> entries(const Candidate& candidate) const;
    /// Set when the stream holds more than a library would: nothing was collected from there on.
    [[nodiscard]] const std::string& error() const { return error_; }

    static constexpr std::size_t kMost = 1U << 17;  ///< containers, and entries: what 64 MiB of memory allow

  private:
    static constexpr std::size_t kWindow = 1U << 20;
    static constexpr std::uint64_t kMostPadding = 1024;  ///< that is counted behind a container

    struct Record {
        fatbin::Entry entry;
        std::size_t next = 0;
    };
    /// Stands before the next header of a container.
    struct Walker {
        std::size_t candidate = 0;
        std::uint64_t next = 0;
    };
    /// Stands before the next section header of a cubin, to see whether it has instructions.
    struct Probe {
        std::size_t candidate = 0;
        std::uint64_t begin = 0;  ///< of the cubin
        std::uint64_t end = 0;
        std::uint64_t next = 0;
        std::uint64_t sections = 0;  ///< still to come; 0 before the ELF header was read
    };

    void process(std::uint64_t limit);
    void search(std::uint64_t limit);
    void add_candidate(std::uint64_t at);
    [[nodiscard]] bool advance(Walker& walker, std::uint64_t limit);
    [[nodiscard]] bool count_padding(Walker& walker, std::uint64_t limit);
    [[nodiscard]] bool advance(Probe& probe, std::uint64_t limit);
    [[nodiscard]] bool begin_sections(Probe& probe);
    void add_entry(std::size_t candidate, const fatbin::EntryHeader& header, std::uint64_t at);
    /// The bytes [at, at + length) of the stream, empty when they are not in the window.
    [[nodiscard]] fatbin::Bytes at(std::uint64_t offset, std::uint64_t length) const;

    std::uint64_t size_;
    std::vector<std::uint8_t> window_;
    std::uint64_t base_ = 0;            ///< where the window begins
    std::uint64_t search_ = 0;          ///< where the search goes on
    std::deque<Candidate> candidates_;  // a vector that grows holds everything two or three times
    std::deque<Record> records_;
    std::vector<Walker> walkers_;
    std::vector<Probe> probes_;
    std::uint64_t effort_ = 0;
    std::string error_;
};

// Which of the candidates of a stream are containers that count.

class Confirmation {
  public:
    Confirmation(const ContainerStream& stream, std::uint64_t size);

    /// Containers that follow each other from the section's begin on, as in a file on disk.
    void section(const std::string& name, std::uint64_t offset, std::uint64_t size);
    /// What a place is called that hidden() finds something in.
    void name(const std::string& name, std::uint64_t offset, std::uint64_t size);
    /// Every other whole candidate that holds an entry.
    void hidden();

    /// `error` wins over what the sections gave cause to.
    [[nodiscard]] Library library(std::string path, std::string error) &&;

  private:
    void take(const ContainerStream::Candidate& candidate, const std::string* section);

    const ContainerStream& stream_;
    std::uint64_t size_;
    std::map<std::uint64_t, const ContainerStream::Candidate*> by_offset_;
    std::map<std::uint64_t, std::pair<std::uint64_t, const std::string*>> named_;  ///< begin: end, name
    std::set<std::string> names_;                                                  ///< sections are views
    fatbin::Contents contents_;
    std::vector<bool> with_code_;
};

}  // namespace cudamatrix::scan
