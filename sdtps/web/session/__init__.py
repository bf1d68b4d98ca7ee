"""The page's server side without Gradio: open image sets, models, data folders, tasks, jobs."""
