// The data of a call as words, for code that was made for arguments of some types.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tape/value.hpp"

namespace retrograd::trees {

// What data is, and how it is written. packing.py gives it as a tuple that begins with one of these, in this order.
struct DataType {
  enum Code : uint8_t {
    FLOAT,
    MIXED,
    INT,
    BOOL,
    VALUE,
    EITHER,
    ANY_NUMBER,
    TEXT,      // the numbers of the texts that the code knows, a dictionary
    NUMBERED,  // a function that gives the number, or None
    NONE,
    STATIC,    // the one object that it may be
    TUPLE,     // its class; the items
    LIST,      // the classes that it may have, a tuple; the items. A dictionary is a list of pairs
    OPTIONAL,  // what it is besides None
    RECORD,    // the keys of a dictionary, in its order; what they have
    INSTANCE,  // the names of the attributes; what they have; the class; whether they are kept in a dictionary
    ARRAY,     // the class; the dtype; its rows or numbers; how many axes; whether its numbers are float64
    UNION,     // INSTANCEs of several classes, and STATICs
    AGAIN      // the INSTANCE that it is inside of, so many up: a child of a node
  };

  Code code = NONE;
  Ref about, second;
  std::vector<DataType> parts;
  long axes = 0, up = 0;
  bool flag = false;

  // False with an exception set.
  bool parse(PyObject* tuple);
  int traverse(visitproc visit, void* arg) const;
};

// Writes data of types.
class TypedData {
 public:
  enum class Put : uint8_t { DONE, OF_ANOTHER_TYPE, FAILED };

  // What is of leaf_type, a class of ints, stands for a variable: which of these numbers it is, counted from 1.
  // takes_results: whether a Value may be the result of an operation.
  TypedData(std::vector<double> numbers, PyTypeObject* leaf_type, bool takes_results)
      : leaves_(std::move(numbers)), leaf_type_(leaf_type), takes_results_(takes_results) {}

  // FAILED has an exception set.
  Put put(const DataType& type, PyObject* thing);
  // The same of an argument whose numbers are variables: of lists, tuples, dictionaries and arrays alone.
  Put put_variables(const DataType& type, PyObject* thing);

  const std::vector<uint64_t>& words() const { return words_; }
  const std::vector<double>& leaves() const { return leaves_; }
  // Those that are leaves after the variables.
  // Those that are leaves after the variables.
  const std::vector<Ref>& values() const { return values_; }
  std::vector<Ref> take_values() { return std::move(values_); }

 private:
  Put word(uint64_t bits) {
    words_.push_back(bits);
    return Put::DONE;
  }
  Put number(double value);
  Put whole(PyObject* thing);
  Put mixed(PyObject* thing);
  Put leaf(PyObject* thing);
  Put variable(PyObject* thing);
  Put text(const DataType& type, PyObject* thing);
  Put numbered(const DataType& type, PyObject* thing);
  Put tuple(const DataType& type, PyObject* thing);
  Put list(const DataType& type, PyObject* thing);
  Put items(const DataType& item, PyObject* sequence, bool is_list);
  Py_ssize_t leading_floats(const DataType& item, PyObject* sequence, bool is_list, Py_ssize_t count);
  Put array(const DataType& type, PyObject* thing);
  bool floats(const DataType& type, PyObject* array);
  Put record(const DataType& type, PyObject* thing);
  Put instance(const DataType& type, PyObject* thing);
  Put one_of(const DataType& type, PyObject* thing);
  Put attributes(const DataType& type, PyObject* own);
  Put again(long up, PyObject* thing);

  std::vector<uint64_t> words_;
  std::vector<double> leaves_;
  std::unordered_map<const Value*, size_t> places_;  // of their numbers among the leaves, counted from 1
  PyTypeObject* leaf_type_;
  bool takes_results_;
  bool takes_variables_ = false;
  std::vector<const DataType*> around_;  // the INSTANCEs that are being written, each inside of the one before
  int depth_ = 0;                        // how often one of them came again
  std::vector<Ref> values_;
  Ref new_texts_;  // numbers of those that the code does not know, in this call
  Py_ssize_t first_new_text_ = 0;
};

}  // namespace retrograd::trees
